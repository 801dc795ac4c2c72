"use strict";
// Tables that sort by a click on a heading, or by Enter or Space on it.

function cellValue(row, column) {
  const text = row.cells[column].dataset.value;
  const number = Number(text);
  return text === "" ? null : Number.isNaN(number) ? text : number;
}

function sortTable(table, heading, column) {
  const down = heading.getAttribute("aria-sort") === "descending";
  const firstDown = heading.classList.contains("number") && !heading.classList.contains("rank");
  const sorted = heading.getAttribute("aria-sort") !== "none";
  const descending = sorted ? !down : firstDown;
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const [x, y] = [cellValue(a, column), cellValue(b, column)];
    if (x === null || y === null) return (x === null) - (y === null); // what has no value comes last
    const order = typeof x === typeof y && typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en");
    return descending ? -order : order;
  });
  table.tBodies[0].append(...rows);
  for (const other of table.tHead.rows[0].cells) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    if (heading.classList.contains("fixed")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortTable(table, heading, column));
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
  });
}
