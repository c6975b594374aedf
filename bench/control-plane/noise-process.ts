import { setTimeout as delay } from "node:timers/promises";
import type { Endpoint } from "./api-server.ts";
import { connect, type Protocol } from "./connection.ts";

/** What the process of the noisy client is told. */
export interface NoiseOrder {
  endpoint: Endpoint;
  protocol: Protocol;
  user: string;
  /** The calls that are open at any time. */
  parallel: number;
  path: string;
}

/** What it tells, when it is asked by any further message: how many answers it has had. */
export interface NoiseReport {
  answered: number;
  refused: number;
}

process.once("message", (order: NoiseOrder) => {
  const counts: NoiseReport = { answered: 0, refused: 0 };
  process.on("message", () => process.send?.(counts));
  makeNoise(order, counts).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.once("disconnect", () => process.exit());

/** As a client of Go's: one connection of HTTP/2, or one of HTTP/1.1 for each call. Refused calls are made again later. */
async function makeNoise({ endpoint, protocol, user, parallel, path }: NoiseOrder, counts: NoiseReport): Promise<void> {
  const connections = protocol === "HTTP/2" ? 1 : parallel;
  const connection = connect(endpoint, { protocol, connections });
  const caller = async () => {
    for (;;) {
      const { status } = await connection.request({ method: "GET", path, user });
      if (status === 200) counts.answered++;
      else if (status === 429) {
        counts.refused++;
        await delay(1_000);
      } else throw new Error(`the server answers ${status}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, caller));
}
