import { sleep } from "../../../base/abort.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Logind } from "../../../host/logind-port.ts";
import type { Files } from "../../../host/port.ts";

export interface InhibitDelayDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: Pick<Files, "makeDirectory" | "writeAtomically">;
  readonly logind: Pick<Logind, "readInhibitDelayMs" | "reloadConfiguration">;
}

const DIRECTORY = "/etc/systemd/logind.conf.d";
const FILE = `${DIRECTORY}/99-kubelet.conf`;
const WAIT = { initialMs: 100, maxMs: SECOND };
const LOOKS = 5;

/**
 * Makes logind wait as long as the pods may take. It writes logind's `InhibitDelayMaxSec` where that is less, and
 * checks until logind has taken the new value over. The file, the number of tries and the words are upstream's
 * (pkg/kubelet/nodeshutdown).
 */
export async function ensureInhibitDelay(
  { clock, log, files, logind }: InhibitDelayDeps,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const wanted = seconds * SECOND;
  const found = await logind.readInhibitDelayMs(signal);
  if (found >= wanted) return;
  log.info("InhibitDelayMaxSec of logind is less than the shutdown periods, raising it", {
    path: FILE,
    found: found / SECOND,
    wanted: seconds,
  });
  await files.makeDirectory(DIRECTORY, 0o755);
  await files.writeAtomically(FILE, `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`, 0o644);
  await logind.reloadConfiguration(signal);
  let current = found;
  for (let look = 0; look < LOOKS; look++) {
    if (look > 0) await sleep(clock, computeBackOff(look, WAIT), signal);
    current = await logind.readInhibitDelayMs(signal);
    if (current >= wanted) return;
  }
  throw new Error(
    `node shutdown manager was timed out after ${LOOKS} attempts waiting for logind InhibitDelayMaxSec to update to ${seconds}s (ShutdownGracePeriod), current value is ${current / SECOND}s: does another file of /etc/systemd/logind.conf.d, later in the alphabet, set it?`,
  );
}
