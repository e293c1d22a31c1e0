// What every component begins with: elements, their attributes, numbers with a sign, and the theme.

const set = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes)) { element.setAttribute(name, value) }
  return element
}

// An element with its attributes and what is in it: other elements, and texts, which are never read as HTML.
const make = (tag, attributes = {}, ...content) => {
  const element = set(document.createElement(tag), attributes)
  element.append(...content)
  return element
}

const draw = (tag, attributes = {}, ...content) => {
  const element = set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes)
  element.append(...content)
  return element
}

const button = (attributes, act, ...content) => {
  const element = make("button", { type: "button", ...attributes }, ...content)
  element.addEventListener("click", act)
  return element
}

// A text in the language of the page, with its values filled in; the page brings what is not English.
const _ = (text, values = {}) =>
  (window.hidvizWords?.[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole))

// Give a text to an element, if it has another.
const say = (element, text) => { if (element.textContent !== text) { element.textContent = text } }

const signed = (value, digits) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits)

// Call this now, and whenever one of these parameters changes.
const follow = (model, names, act) => {
  for (const name of names) { model.on(name, act) }
  act()
}

// The root of a component, in the colours of the theme.
const themed = (model, root) => {
  follow(model, ["dark"], () => root.classList.toggle("dark", model.dark))
  return root
}
