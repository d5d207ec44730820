// Of many columns, those whose name has a text; the others are still sent.
(function () {
  "use strict";
  var field = document.getElementById("filter");
  if (!field) return;
  var told = document.getElementById("filtered");
  var lines = Array.from(document.querySelectorAll("table.columns tbody tr")).map(function (line) {
    return { line: line, name: line.querySelector("th").textContent.toLowerCase() };
  });
  field.closest(".filter").hidden = false;

  function filter() {
    var sought = field.value.trim().toLowerCase();
    var found = 0;
    lines.forEach(function (one) {
      var is = one.name.includes(sought);
      one.line.hidden = !is;
      if (is) found += 1;
    });
    told.textContent = sought
      ? found + " of " + lines.length + (lines.length === 1 ? " column" : " columns")
      : "those with holes come first";
  }

  field.addEventListener("input", filter);
  field.addEventListener("keydown", function (event) {
    if (event.key === "Enter") event.preventDefault(); // it would start the project
  });
  filter();
})();
