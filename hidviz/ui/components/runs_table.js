// A table of runs, one row each, with a button that loads it; cells are changed in place while the runs go on.


export function render({ model }) {
  const head = make("tr", {}, ...[...model.columns, _("Load")].map((name) => make("th", { scope: "col" }, name)))
  const body = make("tbody")
  const frame = make("div", { class: "frame", tabindex: 0, role: "region", "aria-label": _("Table of starts") },
    make("table", {}, make("thead", {}, head), body))
  let rows = []

  const add = ({ key }) => {
    const cells = model.columns.map((_, k) => k ? make("td") : make("th", { scope: "row" }))
    const load = button({ "aria-label": _("Load start {key}", { key }) }, () => model.send_msg({ load: key }), _("Load"))
    const row = make("tr", {}, ...cells, make("td", {}, load))
    body.append(row)
    return { row, cells }
  }

  const update = () => {
    if (model.runs.length < rows.length) { rows = []; body.replaceChildren() }
    model.runs.forEach((run, k) => {
      rows[k] ??= add(run)
      const { row, cells } = rows[k]
      run.cells.forEach((text, c) => say(cells[c], text))
      row.dataset.exact = run.exact
      row.style.setProperty("--gauge", run.colour)
    })
    mark()
  }
  const mark = () => model.runs.forEach(({ key }, k) => {
    rows[k].row.classList.toggle("shown", key === model.shown)
    rows[k].row.ariaCurrent = key === model.shown ? "true" : null
  })
  model.on("shown", mark)
  follow(model, ["runs"], update)
  return themed(model, frame)
}
