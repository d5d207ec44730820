// The curve that reacts takes the place of the one that stands still; where that fails, it stays.
(function () {
  "use strict";
  var percent = cpclean.percent;
  var SVG = "http://www.w3.org/2000/svg";
  var plot = document.getElementById("plot");
  var still = document.getElementById("still");
  var data = JSON.parse(plot.dataset.picture);
  var settled = data.until_sure ? "settled" : "certain";
  var at = null; // the place that is read: an index into what `places` gives

  function add(parent, name, attributes, text) {
    var made = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  // Every number of rows that has a share: what was, then what is expected.
  function places() {
    var seen = data.curve.map(function (one, number) {
      return { x: one[0], share: one[1], certain: data.until_sure ? data.certain_curve[number][1] : undefined };
    });
    var last = seen.length ? seen[seen.length - 1].x : -1;
    data.expected.forEach(function (one, number) {
      if (one[0] <= last) return;
      seen.push({ x: one[0], share: one[1], low: (data.low[number] || one)[1], high: (data.high[number] || one)[1] });
    });
    return seen;
  }

  function reading(place) {
    var rows = cpclean.number(place.x) + (place.x === 1 ? " row" : " rows");
    if (place.low === undefined) {
      return "After " + rows + ": " + percent(place.share) + " " + settled +
        (place.certain === undefined ? "" : ", " + percent(place.certain) + " certain");
    }
    return "After " + rows + ": " + percent(place.share) + " expected, " +
      percent(place.low) + " to " + percent(place.high);
  }

  function ticks(last, most) {
    var rough = Math.max(1, last / most);
    var size = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].map(function (by) { return by * size; }).find(function (one) { return one >= rough; });
    var found = [];
    for (var tick = 0; tick <= last; tick += step) found.push(tick);
    return found;
  }

  // Bands take two places at which it is known what was sure.
  function banded() {
    return data.sure_curve.length > 1;
  }

  function floor(found) {
    if (banded()) return [0, 0.2]; // bands begin at 0
    var least = Math.min.apply(null, found.map(function (one) { return one.low === undefined ? one.share : Math.min(one.low, one.share); }));
    var steps = [[0.9, 0.02], [0.8, 0.05], [0.5, 0.1]];
    return steps.find(function (one) { return least > one[0] + 0.01; }) || [0, 0.2];
  }

  function scales(found, width) {
    var box = { left: 50, right: width - 18, top: 14 + 20 * legend().length, bottom: width < 500 ? 264 : 304 };
    var last = Math.max(1, found.length ? found[found.length - 1].x : 1);
    var low = floor(found);
    return {
      box: box, last: last, low: low[0], step: low[1],
      x: function (value) { return box.left + (box.right - box.left) * value / last; },
      y: function (value) { return box.bottom - (box.bottom - box.top) * (value - low[0]) / (1 - low[0]); },
    };
  }

  function line(points, scale) {
    return points.map(function (one) { return scale.x(one[0]).toFixed(1) + "," + scale.y(one[1]).toFixed(1); }).join(" ");
  }

  function axes(svg, scale, width) {
    var box = scale.box;
    for (var n = 0; n <= Math.round((1 - scale.low) / scale.step); n += 1) {
      var share = scale.low + n * scale.step;
      var y = scale.y(share);
      add(svg, "line", { class: "rule", x1: box.left, x2: box.right, y1: y, y2: y });
      add(svg, "text", { x: box.left - 6, y: y + 4, "text-anchor": "end" }, Math.round(share * 100) + "%");
    }
    ticks(scale.last, width < 500 ? 4 : 8).forEach(function (tick) {
      add(svg, "text", { x: scale.x(tick), y: box.bottom + 18, "text-anchor": "middle" }, tick.toLocaleString("en"));
    });
    add(svg, "text", { x: (box.left + box.right) / 2, y: box.bottom + 40, "text-anchor": "middle" }, "rows cleaned");
    legend().forEach(function (one, number) {
      var at = 12 + 20 * number;
      add(svg, "line", { class: one[0], x1: box.left, x2: box.left + 30, y1: at, y2: at });
      add(svg, "text", { x: box.left + 38, y: at + 4 }, one[1]);
    });
  }

  // The lines that are drawn now, and what they are.
  function legend() {
    var found = [["s1", settled + " predictions"]];
    if (data.expected.length > 1) found.push(["s2 dash", "expected, and its range"]);
    if (banded()) found.push(["s3 dot", data.until_sure ? "certain; above it sure, then open" : "sure; below it certain, above it open"]);
    return found;
  }

  function bands(svg, scale) {
    if (!banded()) return;
    var certain = data.certain_curve;
    var sure = data.sure_curve;
    var none = certain.map(function (one) { return [one[0], 0]; });
    // What was sure may not be worked out for the first answers, or for the last ones, yet.
    var below = certain.filter(function (one) { return one[0] >= sure[0][0] && one[0] <= sure[sure.length - 1][0]; });
    var between = line(sure, scale) + " " + line(below.slice().reverse(), scale);
    add(svg, "polygon", { class: "band f3", points: line(certain, scale) + " " + line(none.reverse(), scale) });
    add(svg, "polygon", { class: "band f1", points: between });
    add(svg, "polyline", { class: "s3 dot", points: line(data.until_sure ? certain : sure, scale) });
  }

  function curves(svg, scale) {
    bands(svg, scale);
    if (data.expected.length > 1) {
      var edge = line(data.high, scale) + " " + line(data.low.slice().reverse(), scale);
      add(svg, "polygon", { class: "band f2", points: edge });
      add(svg, "polyline", { class: "s2 dash", points: line(data.expected, scale) });
    }
    add(svg, "polyline", { class: "s1", points: line(data.curve, scale) });
    var now = data.curve[data.curve.length - 1];
    if (now) add(svg, "circle", { class: "f1", cx: scale.x(now[0]), cy: scale.y(now[1]), r: 4.5 });
  }

  function spot(svg, scale, place) {
    var x = scale.x(place.x);
    add(svg, "line", { class: "here", x1: x, x2: x, y1: scale.box.top, y2: scale.box.bottom });
    add(svg, "circle", { class: "spot " + (place.low === undefined ? "f1" : "f2"), cx: x, cy: scale.y(place.share), r: 6 });
  }

  function draw() {
    var found = places();
    var width = Math.max(280, plot.clientWidth);
    var scale = scales(found, width);
    var here = found[at === null || at >= found.length ? Math.max(0, data.curve.length - 1) : at];
    var svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 " + width + " " + (scale.box.bottom + 48));
    svg.setAttribute("aria-hidden", "true");
    axes(svg, scale, width);
    curves(svg, scale);
    if (at !== null && here) spot(svg, scale, here);
    plot.replaceChildren(svg);
    if (!here) return;
    plot.setAttribute("aria-valuemax", found.length - 1);
    plot.setAttribute("aria-valuenow", found.indexOf(here));
    plot.setAttribute("aria-valuetext", reading(here));
    out.textContent = at === null ? "Point at the picture to read it." : reading(here);
  }

  function nearest(event) {
    var found = places();
    var frame = plot.getBoundingClientRect();
    var scale = scales(found, Math.max(280, plot.clientWidth));
    var x = event.clientX - frame.left;
    var best = 0;
    found.forEach(function (one, number) {
      if (Math.abs(scale.x(one.x) - x) < Math.abs(scale.x(found[best].x) - x)) best = number;
    });
    at = best;
    draw();
  }

  var moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -1e9, End: 1e9 };
  plot.addEventListener("keydown", function (event) {
    if (!(event.key in moves)) return;
    var last = places().length - 1;
    var from = at === null ? Math.max(0, data.curve.length - 1) : at;
    at = Math.max(0, Math.min(last, from + moves[event.key]));
    event.preventDefault();
    draw();
  });
  plot.addEventListener("pointermove", nearest);
  plot.addEventListener("pointerdown", nearest);
  plot.addEventListener("pointerleave", function () {
    at = null;
    draw();
  });
  document.addEventListener("cpclean:progress", function (event) {
    data = event.detail;
    draw();
  });

  var out = document.createElement("p");
  out.className = "reading note";
  plot.after(out);
  plot.setAttribute("tabindex", "0");
  plot.setAttribute("role", "slider");
  plot.setAttribute("aria-label", settled + " predictions, row by row; arrow keys read it");
  plot.setAttribute("aria-valuemin", "0");
  plot.hidden = false;
  still.hidden = true;
  new ResizeObserver(draw).observe(plot);
  draw();
})();
