// A table of runs, one row each, with a button that loads it; cells are changed in place while the runs go on.

const make = (tag, name, text = "") => {
  const element = document.createElement(tag)
  element.className = name
  element.textContent = text
  return element
}

export function render({ model }) {
  const frame = make("div", "frame")
  frame.tabIndex = 0
  frame.setAttribute("role", "region")
  frame.setAttribute("aria-label", "Table of starts")
  const table = document.createElement("table")
  const head = document.createElement("tr")
  const body = document.createElement("tbody")
  table.createTHead().append(head)
  table.append(body)
  frame.append(table)
  let rows = []

  const header = () => head.replaceChildren(...[...model.columns, ""].map((name) => {
    const cell = make("th", "", name)
    cell.scope = "col"
    return cell
  }))

  const add = ({ key }) => {
    const row = document.createElement("tr")
    const cells = model.columns.map((_, k) => make(k ? "td" : "th", ""))
    cells[0].scope = "row"
    const load = make("button", "", "Load")
    load.type = "button"
    load.setAttribute("aria-label", `Load start ${key}`)
    load.addEventListener("click", () => model.send_msg({ load: key }))
    const last = make("td", "")
    last.append(load)
    row.append(...cells, last)
    body.append(row)
    return { row, cells }
  }

  const update = () => {
    if (model.runs.length < rows.length) { rows = []; body.replaceChildren() }
    model.runs.forEach((run, k) => {
      rows[k] ??= add(run)
      const { row, cells } = rows[k]
      run.cells.forEach((text, c) => { if (cells[c].textContent !== text) { cells[c].textContent = text } })
      row.dataset.exact = run.exact
      row.style.setProperty("--gauge", run.colour)
    })
    mark()
  }
  const mark = () => model.runs.forEach(({ key }, k) => {
    rows[k].row.classList.toggle("shown", key === model.shown)
    rows[k].row.ariaCurrent = key === model.shown ? "true" : null
  })
  const theme = () => frame.classList.toggle("dark", model.dark)
  model.on("runs", update)
  model.on("shown", mark)
  model.on("dark", theme)
  header()
  update()
  theme()
  return frame
}
