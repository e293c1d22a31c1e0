// A form of labelled fields in groups. A value is sent as it was typed; what it means is decided elsewhere, and what
// cannot be used is answered under its field, which keeps what was typed until it is mended.


const written = (value) => Number.isInteger(value) && Math.abs(value) >= 1e4 ? value.toLocaleString("en") : String(value)

// As far as arrow keys need it: commas where thousands have them, or a decimal comma. The server reads all the rest.
const parsed = ({ value }) => Number(/^[1-9]\d{0,2}(,\d{3})+$/.test(value) ? value.replaceAll(",", "") : value.replace(",", "."))

export function render({ model }) {
  const root = make("div", { class: "knobs" })
  const fields = new Map(), told = new Map()

  const field = (name) => {
    const { label, help, kind, options, step, acts } = model.fields[name]
    const place = make("div", { class: `field ${kind}`, title: help })
    const input = kind === "choice" ? make("select") : make("input", { autocomplete: "off" })
    const id = `knob-${name}`
    for (const [attribute, value] of Object.entries({ id, name, "aria-description": help })) {
      input.setAttribute(attribute, value)
    }
    const error = make("div", { class: "refusal", "aria-live": "polite" })
    const send = (value) => model.send_msg({ turned: name, value })
    if (kind === "choice") {
      input.append(...options.map(([value, text]) => make("option", { value }, text)))
      input.addEventListener("change", () => send(input.value))
    } else if (kind === "switch") {
      input.type = "checkbox"
      input.setAttribute("role", "switch")
      input.addEventListener("change", () => send(input.checked))
    } else if (kind === "text") {
      input.type = "text"
      input.addEventListener("change", () => send(input.value))
    } else {
      input.type = "text"
      input.inputMode = kind === "integer" ? "numeric" : "decimal"
      input.setAttribute("role", "spinbutton")
      input.addEventListener("change", () => {
        if (parsed(input) === model.values[name]) { input.value = written(model.values[name]) }
        send(input.value)
      })
      input.addEventListener("keydown", (event) => {
        const by = { ArrowUp: step, ArrowDown: -step }[event.key]
        if (event.key === "Enter") { input.select() }
        if (by === undefined) { return }
        event.preventDefault()
        const value = parsed(input) + by
        if (Number.isFinite(value)) {
          input.value = written(Number(value.toPrecision(12)))
          input.dispatchEvent(new Event("change"))
        }
      })
    }
    const badge = acts ? [make("span", { class: "badge", "aria-hidden": "true" }, acts)] : []
    place.append(make("label", { for: id }, label), make("div", { class: "entry" }, input, ...badge), error)
    fields.set(name, { input, error, kind })
    return place
  }

  const group = ({ title, folded, rows }) => {
    const place = make(folded ? "details" : "fieldset")
    place.append(make(folded ? "summary" : "legend", {}, title))
    for (const row of rows) {
      const line = make("div", { class: "row" })
      line.append(...row.map(field))
      place.append(line)
    }
    return place
  }

  // Only what is another value now, or was refused before: what is being typed or switched may still be on its way.
  const show = () => {
    for (const [name, { input, error, kind }] of fields) {
      const value = model.values[name], refused = model.errors[name] ?? ""
      error.textContent = refused
      input.disabled = model.disabled.includes(name)
      input.setAttribute("aria-invalid", String(Boolean(refused)))
      if (refused) {
        told.delete(name)
        continue
      }
      if (told.has(name) && told.get(name) === value) { continue }
      told.set(name, value)
      if (kind === "switch") {
        input.checked = value
      } else if (kind === "choice") {
        input.value = value
      } else {
        input.value = written(value)
        if (Number.isFinite(value)) { input.setAttribute("aria-valuenow", value) }
      }
    }
  }
  root.append(...model.groups.map(group))
  follow(model, ["asides"], () => {
    for (const [name, asides] of Object.entries(model.asides)) {
      const titles = Object.fromEntries(model.fields[name].options)
      for (const option of fields.get(name).input.options) {
        say(option, asides[option.value] ? `${titles[option.value]} · ${asides[option.value]}` : titles[option.value])
      }
    }
  })
  follow(model, ["values", "errors", "disabled"], show)
  return themed(model, root)
}
