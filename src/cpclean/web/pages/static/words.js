// Numbers as the server writes them.
(function () {
  "use strict";

  // 100% and 0% only where it is exactly that.
  function percent(share) {
    if (share === 0 || share === 1) return share * 100 + "%";
    if (share < 0.001) return "<0.1%";
    return share > 0.999 ? ">99.9%" : (share * 100).toFixed(1) + "%";
  }

  function number(value) {
    return Number(value).toLocaleString("en");
  }

  var root = document.body.dataset.root || ""; // what stands before all addresses
  window.cpclean = { percent: percent, number: number, lost: false, root: root };
})();
