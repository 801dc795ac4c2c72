"""What the Hugging Face Hub takes in a dataset card and in `eval.yaml`, as its sources say it.

Written down on 1 December 2026 from the newest versions at hand.
"""

# huggingface.js, packages/tasks/src/pipelines.ts: those that are not hidden for datasets, of the kinds "nlp" and "rl".
TASK_CATEGORIES = {
    "fill-mask",
    "multiple-choice",
    "question-answering",
    "reinforcement-learning",
    "robotics",
    "sentence-similarity",
    "summarization",
    "table-question-answering",
    "table-to-text",
    "text-classification",
    "text-generation",
    "text-ranking",
    "text-retrieval",
    "text2text-generation",
    "token-classification",
    "translation",
    "zero-shot-classification",
}

# datasets 5.2, datasets/utils/resources/size_categories.json.
SIZE_CATEGORIES = {
    "n<1K",
    "1K<n<10K",
    "10K<n<100K",
    "100K<n<1M",
    "1M<n<10M",
    "10M<n<100M",
    "100M<n<1B",
    "1B<n<10B",
    "10B<n<100B",
    "100B<n<1T",
    "n>1T",
}

# datasets 5.2, datasets/utils/resources/creators.json.
LANGUAGE_CREATORS = {"found", "crowdsourced", "expert-generated", "machine-generated", "other"}
ANNOTATIONS_CREATORS = {*LANGUAGE_CREATORS, "no-annotation"}

# hub-docs, docs/hub/repositories-licenses.md: the Creative Commons ones of version 4.
LICENCES = {
    "cc0-1.0",
    "cc-by-4.0",
    "cc-by-sa-4.0",
    "cc-by-nc-4.0",
    "cc-by-nd-4.0",
    "cc-by-nc-nd-4.0",
    "cc-by-nc-sa-4.0",
}

# hub-docs, datasetcard.md: the fields of a card's metadata.
CARD_FIELDS = {
    "annotations_creators",
    "configs",
    "dataset_info",
    "extra_gated_fields",
    "extra_gated_prompt",
    "language",
    "language_creators",
    "language_details",
    "license",
    "license_details",
    "license_link",
    "license_name",
    "multilinguality",
    "paperswithcode_id",
    "pretty_name",
    "size_categories",
    "source_datasets",
    "tags",
    "task_categories",
    "task_ids",
    "train-eval-index",
}

# hub-docs, docs/hub/eval-results.md. The Hub lists the frameworks that it shows leaderboards for in huggingface.js,
# packages/tasks/src/eval.ts; one's own gets there by a pull request.
EVALUATION_FIELDS = {"name", "description", "evaluation_framework", "tasks"}
EVALUATION_TASK_FIELDS = {"id", "config", "split"}
