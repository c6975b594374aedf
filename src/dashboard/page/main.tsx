import "@xterm/xterm/css/xterm.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { createLive } from "./live.ts";
import "./main.css";
import { keepToken, watchLinks } from "./session.ts";
import { LiveContext } from "./state.ts";

keepToken();
watchLinks();
const place = document.getElementById("page");
if (place !== null) {
  render(
    <LiveContext.Provider value={createLive()}>
      <App />
    </LiveContext.Provider>,
    place,
  );
}
