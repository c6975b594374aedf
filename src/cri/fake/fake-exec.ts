import { untilAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { ExecSyncResponse } from "../gen/cri-v1.ts";
import { refusal } from "./fake-answers.ts";
import { noSuchProgram } from "./fake-container-life.ts";
import { runFakeProcess } from "./fake-process.ts";
import { readCommand } from "./fake-shell.ts";

/** Runs the command until it ends, its time-out (0: none) is over or the signal fires. */
export async function fakeExecSync(
  clock: Clock,
  cmd: readonly string[],
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<ExecSyncResponse> {
  const steps = readCommand(cmd);
  if (steps === undefined) throw refusal("unknown", `failed to exec in container: ${noSuchProgram(cmd[0])}`);
  let stdout = "";
  let kill = () => {};
  const onPrint = (text: string) => {
    stdout += `${text}\n`;
  };
  const exited = new Promise<number>((onExit) => {
    const process = runFakeProcess({ steps, isInit: false, clock, onPrint, onExit });
    kill = () => process.signal("KILL");
  });
  const expired = new Promise<never>((_resolve, reject) => {
    if (timeoutMs <= 0) return;
    const detail = `failed to exec in container: timeout ${timeoutMs / 1_000}s exceeded: context deadline exceeded`;
    const timer = clock.setTimer(timeoutMs, () => reject(refusal("deadline-exceeded", detail)));
    exited.then(() => timer.cancel(), reject);
  });
  try {
    const exitCode = await untilAborted(Promise.race([exited, expired]), signal);
    return { stdout: Buffer.from(stdout), stderr: Buffer.alloc(0), exitCode };
  } finally {
    kill();
  }
}
