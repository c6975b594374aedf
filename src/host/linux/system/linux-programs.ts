import type { Programs } from "../../programs-port.ts";
import { runProgram } from "./run-program.ts";
import { streamProgram } from "./stream-program.ts";
import { systemClock } from "./system-clock.ts";

/** The programs of the machine that this process runs on. */
export const linuxPrograms: Programs = {
  run: async (run, signal) => await runProgram(run, systemClock, signal),
  stream: async (run, write, signal) => await streamProgram(run, write, { clock: systemClock, signal }),
};
