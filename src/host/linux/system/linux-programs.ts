import { runProgram } from "../../../base/run-program.ts";
import type { Programs } from "../../programs-port.ts";
import { streamProgram } from "./stream-program.ts";
import { systemClock } from "./system-clock.ts";

/** The programs of the machine that this process runs on. */
export const linuxPrograms: Programs = {
  async run({ path, args, environment, stdin, timeoutMs }, signal) {
    const program = { command: path, args, environment: { ...process.env, ...environment }, stdin };
    return await runProgram(program, { clock: systemClock, timeoutMs, signal });
  },
  stream: async (run, write, signal) => await streamProgram(run, write, { clock: systemClock, signal }),
};
