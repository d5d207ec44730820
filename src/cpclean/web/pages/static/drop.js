// A file can be dropped on the page, and one that is too large is told before it is sent.
(function () {
  "use strict";
  var place = document.querySelector("[data-drop]");
  var field = document.getElementById("table");
  var form = field.form;
  var limit = Number(form.dataset.limit);
  var told = document.getElementById("too-large");

  function check() {
    var files = [field, document.getElementById("points")].map(function (one) { return one.files[0]; });
    var total = files.reduce(function (sum, file) { return sum + (file ? file.size : 0); }, 0);
    told.hidden = total <= limit;
    return total <= limit;
  }

  ["dragenter", "dragover"].forEach(function (name) {
    document.addEventListener(name, function (event) {
      event.preventDefault();
      place.classList.add("over");
    });
  });
  document.addEventListener("dragleave", function (event) {
    if (!event.relatedTarget) place.classList.remove("over");
  });
  document.addEventListener("drop", function (event) {
    event.preventDefault();
    place.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    var one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    field.files = one.files;
    check();
  });
  form.addEventListener("change", check);
  form.addEventListener("submit", function (event) {
    if (!check()) event.preventDefault();
  });
})();
