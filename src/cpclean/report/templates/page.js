// Pictures that react take the place of those that stand still; where that fails, these stay.
(function () {
  "use strict";
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var figures = JSON.parse(document.getElementById("figures").textContent);

  function draw(name) {
    var frame = document.getElementById("picture-" + name);
    var place = document.getElementById("plot-" + name);
    var figure = figures[name][dark.matches ? "dark" : "light"];
    frame.classList.add("live"); // seen first: the width is that of the place
    try {
      // A copy, for Plotly writes into what it is given.
      var own = JSON.parse(JSON.stringify(figure));
      own.layout.autosize = true;
      window.Plotly.react(place, own.data, own.layout, { displayModeBar: false, responsive: true });
    } catch (problem) {
      frame.classList.remove("live");
    }
  }

  function drawAll() {
    Object.keys(figures).forEach(draw);
  }

  // The command can be taken along; where a browser does not allow that, it can be selected.
  var copy = document.getElementById("copy");
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", function () {
      navigator.clipboard.writeText(document.getElementById("try").textContent).then(
        function () { document.getElementById("copied").textContent = "Copied."; },
        function () { document.getElementById("copied").textContent = "Your browser does not allow it: select the text."; }
      );
    });
  }

  if (window.Plotly) {
    drawAll();
    dark.addEventListener("change", drawAll);
  }
})();
