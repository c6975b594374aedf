import { runProgram } from "../../../base/run-program.ts";
import type { Programs } from "../../programs-port.ts";
import { nodeClock } from "./node-clock.ts";
import { streamProgram } from "./stream-program.ts";

/** The programs of the machine that this process runs on. */
export const nodePrograms: Programs = {
  async run({ path, args, environment, stdin, timeoutMs }, signal) {
    const program = { command: path, args, environment: { ...process.env, ...environment }, stdin };
    return await runProgram(program, { clock: nodeClock, timeoutMs, signal });
  },
  stream: async (run, write, signal) => await streamProgram(run, write, { clock: nodeClock, signal }),
};
