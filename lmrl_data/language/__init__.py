"""Help with everyday English for the dialogue tasks; nothing here knows of any task."""
