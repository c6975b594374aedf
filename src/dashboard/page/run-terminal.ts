import { Terminal } from "@xterm/xterm";
import { strictDocument } from "./strict-document.ts";

/** The channels of a WebSocket of exec, as the first byte of each message. */
const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const;
/** What a program may write before the terminal has shown it; more makes the page wait. */
const SCROLLBACK_LINES = 2_000;

/** Runs a terminal until its program ends or the signal fires. Resolves with how it ended, in words. */
export async function runTerminal(place: HTMLElement, path: string, signal: AbortSignal): Promise<string> {
  const terminal = new Terminal({
    cols: columnsOf(place),
    rows: 24,
    scrollback: SCROLLBACK_LINES,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    fontFamily: "ui-monospace, monospace",
    fontSize: 13,
    screenReaderMode: true,
    documentOverride: strictDocument(document),
    theme: { background: "#0d1117", foreground: "#e6edf3" },
  });
  terminal.open(place);
  terminal.attachCustomKeyEventHandler((event) => {
    if (!(event.key === "Escape" && event.ctrlKey && event.shiftKey)) return true;
    place.parentElement?.querySelector("button")?.focus();
    return false;
  });
  terminal.focus();
  const socket = new WebSocket(path, ["v5.channel.k8s.io", "v4.channel.k8s.io"]);
  socket.binaryType = "arraybuffer";
  const onAbort = () => socket.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await talk(terminal, socket);
  } finally {
    signal.removeEventListener("abort", onAbort);
    terminal.options.disableStdin = true;
    if (signal.aborted) terminal.dispose();
  }
}

async function talk(terminal: Terminal, socket: WebSocket): Promise<string> {
  return await new Promise<string>((resolve) => {
    let end = "";
    const encoder = new TextEncoder();
    const send = (channel: number, text: string) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      const bytes = encoder.encode(text);
      const message = new Uint8Array(bytes.length + 1);
      message[0] = channel;
      message.set(bytes, 1);
      socket.send(message);
    };
    const tellSize = () => send(CHANNELS.resize, JSON.stringify({ Width: terminal.cols, Height: terminal.rows }));
    terminal.onData((text) => send(CHANNELS.stdin, text));
    terminal.onResize(tellSize);
    socket.onopen = tellSize;
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (!(data instanceof ArrayBuffer)) return;
      const bytes = new Uint8Array(data);
      const content = bytes.subarray(1);
      if (bytes[0] === CHANNELS.stdout || bytes[0] === CHANNELS.stderr) terminal.write(content);
      if (bytes[0] === CHANNELS.status) end = describeEnd(new TextDecoder().decode(content));
    };
    socket.onclose = ({ wasClean }) => {
      resolve(
        end || (wasClean ? "The program has ended." : "The terminal could not be opened, or its connection broke."),
      );
    };
  });
}

/** The last message is a Status of Kubernetes. */
function describeEnd(text: string): string {
  const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return message === undefined ? "The program has ended." : `It ended: ${message.replaceAll('\\"', '"')}`;
}

/** The columns that fit, by the width that a letter of this size has. */
function columnsOf(place: HTMLElement): number {
  return Math.max(20, Math.min(200, Math.floor((place.clientWidth - 24) / 7.85)));
}
