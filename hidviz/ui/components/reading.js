// The numbers under the buttons, and how far long work has come.

export function render({ model }) {
  const text = make("div")
  const bar = make("div", { class: "bar" })
  const track = make("div", { class: "track", role: "progressbar" }, bar)
  follow(model, ["text"], () => say(text, model.text))
  follow(model, ["percent"], () => {
    track.style.visibility = model.percent < 0 ? "hidden" : "visible"
    set(track, { "aria-label": model.text, "aria-valuenow": model.percent })
    bar.style.width = `${Math.max(0, model.percent)}%`
  })
  return themed(model, make("div", { class: "line" }, text, track))
}
