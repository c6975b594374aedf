import type { Summary } from "../../../src/node/upkeep/stats/summary/summary.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { type Stage, until } from "./scenario.ts";

/** Reads `/stats/summary` until it is right. */
export async function readSummary(at: Stage, isRight: (summary: Summary) => boolean): Promise<Summary> {
  const parse = (text: string): Summary => JSON.parse(text);
  return parse(
    await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}/proxy/stats/summary`, (text) => isRight(parse(text))),
  );
}

/** Reads a page of the node's metrics. */
export async function readMetrics(at: Stage, page: string): Promise<string> {
  return await at.machine.read(`ask-api GET /api/v1/nodes/${HOST_NAME}/proxy${page}`);
}
