// Draws the state of a session and sends what people do; everything else is in Python.

function made(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in node && key !== "list") node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

let widgets = 0; // so that ids differ between widgets of a page

function fieldOf(field, sent, id, wrong) {
  const name = made("span", { className: "cpc-name", id: `${id}-name` }, field.column);
  const parts = [name];
  const typed = typeof sent === "string" ? sent : "";
  const input = made("input", {
    type: "text", className: "cpc-value", autocomplete: "off", value: typed,
    "aria-labelledby": `${id}-name`, "aria-describedby": `${id}-hint`,
  });
  if (field.control === "number") input.inputMode = "decimal";
  if (wrong) input.setAttribute("aria-invalid", "true");
  if (field.control === "chips") {
    const chips = made("div", { className: "cpc-chips", role: "group", "aria-labelledby": `${id}-name` });
    for (const choice of field.choices) {
      const radio = made("input", { type: "radio", name: `${id}-pick`, value: choice.value });
      radio.checked = typed === choice.value;
      if (radio.checked) input.value = "";
      radio.addEventListener("change", () => { input.value = ""; });
      chips.append(made("label", { className: "cpc-chip" }, radio, ` ${choice.text}`));
    }
    input.placeholder = "another value";
    input.addEventListener("input", () => {
      for (const radio of chips.querySelectorAll("input[type=radio]")) radio.checked = false;
    });
    chips.append(input);
    parts.push(chips);
  } else {
    const line = made("div", { className: "cpc-line" }, input);
    if (field.unit) line.append(made("span", { className: "cpc-unit" }, field.unit));
    if (field.control === "list") {
      const list = made("datalist", { id: `${id}-list` });
      for (const choice of field.choices) list.append(made("option", { value: choice.value }));
      input.setAttribute("list", list.id);
      input.placeholder = "search or type";
      line.append(list);
    }
    parts.push(line);
  }
  parts.push(made("span", { className: "cpc-hint", id: `${id}-hint` }, field.hint));
  if (field.ranges.length) {
    const ranges = made("div", { className: "cpc-chips", role: "group", "aria-label": `${field.column}, only roughly` });
    field.ranges.forEach((range, place) => {
      const radio = made("input", { type: "radio", name: `${id}-rough`, value: String(place) });
      radio.checked = JSON.stringify(sent) === JSON.stringify(range.value);
      if (radio.checked) input.value = "";
      ranges.append(made("label", { className: "cpc-chip" }, radio, ` ${range.text}`));
    });
    const details = made("details", { className: "cpc-rough" }, made("summary", {}, "Only roughly"), ranges);
    details.open = ranges.querySelector(":checked") !== null;
    parts.push(details);
  }
  if (wrong) parts.push(made("p", { className: "cpc-wrong", role: "alert" }, wrong));
  const node = made("div", { className: "cpc-field" }, ...parts);
  const read = () => {
    const rough = node.querySelector(`input[name="${id}-rough"]:checked`);
    const picked = node.querySelector(`input[name="${id}-pick"]:checked`);
    if (input.value.trim()) return input.value;
    if (picked) return picked.value;
    return rough ? field.ranges[Number(rough.value)].value : "";
  };
  return { node, read };
}

function listOf(cells) {
  const list = made("dl", { className: "cpc-cells" });
  for (const cell of cells) {
    list.append(made("div", {}, made("dt", {}, cell.column), made("dd", {}, cell.text)));
  }
  return list;
}

function progressOf(standing) {
  const total = Object.values(standing.counts).reduce((sum, one) => sum + one, 0) || 1;
  const bar = made("div", { className: "cpc-bar", role: "img", "aria-label": standing.words });
  for (const [name, count] of Object.entries(standing.counts)) {
    if (!count) continue;
    const part = made("span", { className: `cpc-${name}`, title: `${count} ${name}` });
    part.style.width = `${(100 * count) / total}%`;
    bar.append(part);
  }
  return made("div", {}, bar, made("p", { className: "cpc-words" }, standing.words));
}

function questionOf(question, state, id, send) {
  const at = state.wrong.words ? state.wrong.column : null;
  const place = at === "" && question.holes.length === 1 ? question.holes[0] : at;
  const fields = question.fields.map((field, number) => ({
    column: field.column,
    ...fieldOf(field, state.sent[field.column], `${id}-${number}`, field.column === place ? state.wrong.words : ""),
  }));
  const form = made("form", { className: "cpc-form", noValidate: true });
  form.append(...fields.map((one) => one.node));
  if (state.wrong.words && !question.holes.includes(place)) {
    form.append(made("p", { className: "cpc-wrong", role: "alert" }, state.wrong.words));
  }
  const skip = made("button", { type: "button" }, "I don’t know");
  skip.addEventListener("click", () => send({ do: "skip", row: question.row }));
  form.append(made("div", { className: "cpc-actions" }, made("button", { type: "submit", className: "cpc-main" }, "Save"), skip));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = {};
    for (const one of fields) values[one.column] = one.read();
    send({ do: "answer", row: question.row, values });
  });
  const cells = [...question.cells, { column: `${question.label.column} (label)`, text: question.label.text }];
  const rest = cells.splice(12);
  const verb = question.holes.length === 1 ? "is" : "are";
  const holes = question.holes.join(", ").replace(/, ([^,]*)$/, " and $1");
  return [
    made("p", { className: "cpc-where" }, question.where),
    made("p", { className: "cpc-asked", role: "heading", "aria-level": "3" }, `What ${verb} ${holes}?`),
    made("div", { className: "cpc-two" }, form, made("div", {}, listOf(cells), rest.length
      ? made("details", {}, made("summary", {}, `${rest.length} more columns`), listOf(rest)) : null)),
  ];
}

export default {
  render({ model, el }) {
    const id = `cpc-${(widgets += 1)}`;
    const root = made("div", { className: "cpc", role: "group", "aria-label": "Questions of a cleaning session" });
    let asked = false; // whether a person has done something here: only then the focus moves
    const send = (message) => {
      asked = true;
      root.setAttribute("aria-busy", "true");
      for (const control of root.querySelectorAll("button, input")) control.disabled = true;
      model.send(message);
    };
    // The keys of a notebook, such as two d for "delete the cell", are not for what is typed here.
    root.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's word for it
    root.addEventListener("keydown", (event) => event.stopPropagation());
    const draw = () => {
      const state = model.get("state");
      root.removeAttribute("aria-busy");
      const said = made("p", { className: "cpc-said", role: "status" }, state.said);
      const undo = made("button", { type: "button", className: "cpc-quiet" }, "Undo the last answer");
      undo.hidden = !state.undoable;
      undo.addEventListener("click", () => send({ do: "undo" }));
      const body = state.question
        ? questionOf(state.question, state, id, send)
        : [made("p", { className: "cpc-asked", role: "heading", "aria-level": "3" }, "There is nothing more to ask"),
           made("p", {}, state.stopped ? `${state.stopped[0].toUpperCase()}${state.stopped.slice(1)}.` : "Every row with holes is answered or skipped.")];
      root.replaceChildren(progressOf(state.standing), made("div", { className: "cpc-line" }, said, undo), ...body);
      const first = root.querySelector("[aria-invalid=true]") || root.querySelector(".cpc-field input");
      if (asked && first) first.focus({ preventScroll: true });
    };
    model.on("change:state", draw);
    draw();
    el.append(root);
    return () => model.off("change:state", draw);
  },
};
