import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { ScriptEnd } from "./machine.ts";
import { type MachineClock, within } from "./machine-clock.ts";

const ANSWER_MS = 1_200_000;
const START_MS = 1_200_000;
const CONNECT_ATTEMPTS = 600;
const CONNECT_INTERVAL_MS = 100;

/** The machine's serial port for commands; `disk/recipe.ts` has the other end. */
export interface Channel {
  run(script: string): Promise<ScriptEnd>;
  readonly heard: readonly string[];
  /** Scripts that run are given up, because the machine they ran on goes down. */
  giveUp(reason: string): void;
  /** Resolves when the machine says that it takes commands, once more than when this was called. */
  untilHello(): Promise<void>;
  close(): void;
}

interface Waiting {
  resolve(end: ScriptEnd): void;
  reject(error: Error): void;
}

/**
 * Connects to the socket of the serial port. Rejects where nobody listens within a minute. What the machine has to do has its
 * limits by the machine's clock.
 */
export async function openChannel(path: string, clock: MachineClock): Promise<Channel> {
  const socket = await connectTo(path);
  const waiting = new Map<number, Waiting>();
  const heard: string[] = [];
  const greeted = new Set<() => void>();
  // A machine that was kept may still answer who was here before.
  let last = Date.now();
  const giveUp = (reason: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
  };
  const take = (line: string): void => {
    const [first = "", code = "", output = ""] = line.split(" ");
    if (first === "hello") {
      giveUp("the machine started anew");
      for (const hear of greeted) hear();
      greeted.clear();
    } else if (line.startsWith("+")) {
      heard.push(line.slice(1));
    } else {
      waiting
        .get(Number(first))
        ?.resolve({ code: Number(code), output: Buffer.from(output, "base64").toString("utf8") });
      waiting.delete(Number(first));
    }
  };
  createInterface({ input: socket }).on("line", take);
  socket.on("close", () => giveUp("the machine is switched off"));
  return {
    heard,
    giveUp,
    run: async (script) => {
      const number = ++last;
      const end = new Promise<ScriptEnd>((resolve, reject) => waiting.set(number, { resolve, reject }));
      socket.write(`${number} ${Buffer.from(script).toString("base64")}\n`);
      return await within(clock, ANSWER_MS, end, `no answer of the machine to: ${script}`);
    },
    untilHello: async () => {
      const hello = new Promise<void>((resolve) => greeted.add(resolve));
      await within(clock, START_MS, hello, "the machine does not start");
    },
    close: () => socket.destroy(),
  };
}

/** Connects as soon as the other end listens. */
export async function connectTo(path: string): Promise<Socket> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await new Promise((resolve, reject) => {
        const socket = connect(path, () => resolve(socket.off("error", reject).on("error", () => undefined)));
        socket.once("error", reject);
      });
    } catch (error) {
      if (attempt === CONNECT_ATTEMPTS) throw error;
      await delay(CONNECT_INTERVAL_MS);
    }
  }
}
