// The numbers under the buttons, and how far long work has come.

export function render({ model }) {
  const root = document.createElement("div")
  const text = document.createElement("div")
  const track = document.createElement("div")
  const bar = document.createElement("div")
  root.className = "line"
  track.className = "track"
  bar.className = "bar"
  track.setAttribute("role", "progressbar")
  track.append(bar)
  root.append(text, track)
  const say = () => { text.textContent = model.text }
  const advance = () => {
    track.style.visibility = model.percent < 0 ? "hidden" : "visible"
    track.setAttribute("aria-label", model.text)
    track.setAttribute("aria-valuenow", model.percent)
    bar.style.width = `${Math.max(0, model.percent)}%`
  }
  const theme = () => root.classList.toggle("dark", model.dark)
  model.on("text", say)
  model.on("percent", advance)
  model.on("dark", theme)
  say()
  advance()
  theme()
  return root
}
