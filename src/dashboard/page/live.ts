import type { LiveMessage } from "../model/live-message.ts";
import { createObjectTables, type ObjectTables } from "../model/object-table.ts";
import { ask, currentToken, QuestionError, untilNewToken } from "./session.ts";

/** How the page stands with its server. */
export type ServerStanding =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  /** The link has ended: no waiting helps, but a new one. */
  | { readonly state: "ended"; readonly message: string }
  | { readonly state: "lost"; readonly message: string };

/** The newest that is known. `changed` calls listeners at most once a frame, however much arrives. */
export interface Live {
  readonly tables: ObjectTables;
  connection(): ServerStanding;
  subscribe(listener: () => void): () => void;
}

/** The server says something every ten seconds. */
const SILENCE_MS = 25_000;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;

/** Follows the server's stream for as long as the page is open, and begins anew whenever it breaks. */
export function createLive(): Live {
  const tables = createObjectTables();
  const listeners = new Set<() => void>();
  let connection: ServerStanding = { state: "connecting" };
  let isDue = false;
  const changed = () => {
    if (isDue) return;
    isDue = true;
    // A hidden page gets no frames, and a timer brings it up to date all the same.
    const run = () => {
      if (!isDue) return;
      isDue = false;
      for (const listener of listeners) listener();
    };
    requestAnimationFrame(run);
    setTimeout(run, 250);
  };
  const turn = (next: ServerStanding) => {
    connection = next;
    changed();
  };
  const follow = async () => {
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
      const silence = createSilence();
      const token = currentToken();
      try {
        const answer = await ask("/live", { signal: silence.signal });
        tables.begin();
        turn({ state: "live" });
        delayMs = FIRST_DELAY_MS;
        await readEvents(answer, silence, (message) => {
          tables.apply(message);
          changed();
        });
        turn({ state: "lost", message: "The dashboard ended the stream." });
      } catch (error) {
        const message = error instanceof QuestionError ? error.message : "The dashboard has fallen silent.";
        const hasEnded = error instanceof QuestionError && error.status === 401;
        turn({ state: hasEnded ? "ended" : "lost", message });
        // Who opens the new link goes on in this page.
        if (hasEnded) await untilNewToken(token);
        if (hasEnded) continue;
      } finally {
        silence.end();
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  };
  follow().catch((error: unknown) => turn({ state: "ended", message: String(error) }));
  return {
    tables,
    connection: () => connection,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

interface Silence {
  readonly signal: AbortSignal;
  /** Something was heard. */
  heard(): void;
  end(): void;
}

function createSilence(): Silence {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(), SILENCE_MS);
  let timer = start();
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer);
      timer = start();
    },
    end() {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

/** Reads server-sent events. EventSource would do so too, but it sends no token. */
async function readEvents(
  answer: Response,
  silence: Silence,
  onMessage: (message: LiveMessage) => void,
): Promise<void> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    silence.heard();
    const blocks = `${rest}${piece.value}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) if (block.startsWith("data: ")) onMessage(JSON.parse(block.slice("data: ".length)));
  }
}
