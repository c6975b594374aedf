import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { findProgram } from "../../src/cluster/containerd/machine-facts.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { startContainerd } from "../../src/cluster/containerd/start-containerd.ts";
import { claimNetwork } from "../machine/claims.ts";
import { readWhyNoContainerd } from "./runtime-under-test.ts";

const REASON = "failed to create cni conf monitor for default: failed to create fsnotify watcher: too many open files";
/** What a containerd does whose CRI service fails: it says so, and goes on without. */
const WITHOUT_CRI = `echo 'level=warning msg="failed to load plugin io.containerd.grpc.v1.cri" error="${REASON}"' >&2
sed 's/^disabled_plugins = \\[/&"io.containerd.grpc.v1.cri", /' "$2" > "$2.without-cri"
exec "$REAL" --config "$2.without-cri"`;

const whyNot = await readWhyNoContainerd();
if (whyNot) console.warn(`SKIPPED: the start of containerd: ${whyNot}`);

describe.skipIf(whyNot)("the start of a containerd", () => {
  let directory = "";
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-start-"));
  });
  afterEach(async () => await removeRuntime(join(directory, "runtime")));

  /** Starts a containerd that runs the script in place of itself. */
  async function start(script: string, signal: AbortSignal) {
    const real = await findProgram("containerd");
    const binary = join(directory, "containerd");
    await writeFile(binary, `#!/bin/sh\nREAL=${real}\n[ "$1" = --version ] && exec "$REAL" --version\n${script}\n`);
    await chmod(binary, 0o755);
    const network = await claimNetwork();
    return await startContainerd({ directory: join(directory, "runtime"), binary, signal, log: silentLog, ...network });
  }

  it("without its CRI service fails at once, with its own words and how that is mended", async () => {
    const message = expect.stringMatching(/CRI service: .*too many open files; .*fs\.inotify\.max_user_instances/);
    const failed = start(WITHOUT_CRI, AbortSignal.timeout(60_000));
    await expect(failed).rejects.toMatchObject({ code: "no-cri", message });
  });

  it("that never answers is not waited for once it shall stop", async () => {
    await expect(start("exec sleep 300", AbortSignal.timeout(1_000))).rejects.toMatchObject({ name: "AbortError" });
  });
});
