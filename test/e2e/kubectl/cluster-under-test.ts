import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claimPort } from "../../machine/claims.ts";
import { type RunningProgram, startProgram } from "../program.ts";
import { createKubectl, type Kubectl } from "./kubectl.ts";
import { type KubectlBinary, newestKubectl } from "./kubectl-binaries.ts";

/** The built program as `nodelet control-plane`, and a kubectl that talks to it; both in a directory of their own. */
export interface ClusterUnderTest {
  /** For whatever files a test needs; gone after `stop`. */
  readonly directory: string;
  readonly url: string;
  readonly kubeconfig: string;
  /** A kubectl with the administrator's credentials. */
  readonly kubectl: Kubectl;
  /** The same program with other credentials. */
  kubectlWith(kubeconfig: string): Kubectl;
  /** Ends the control plane in order and removes the directory. */
  stop(): Promise<void>;
}

const READY = "Ctrl-C stops it";

/** Starts a control plane with nothing in it. The kubectl is the newest, when none is named. */
export async function startClusterUnderTest(binary: KubectlBinary = newestKubectl()): Promise<ClusterUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-kubectl-"));
  const state = join(directory, "state");
  const port = await claimPort();
  const program = startProgram("control-plane", "--state-dir", state, "--api-port", String(port));
  const kubeconfig = join(state, "kubeconfig");
  const kubectlWith = (path: string) => createKubectl({ binary, home: directory, kubeconfig: path });
  const stop = async () => {
    program.child.kill("SIGTERM");
    const { code, stderr } = await program.result;
    await rm(directory, { recursive: true, force: true });
    if (code !== 0) throw new Error(`the control plane ended with ${code}:\n${stderr}`);
  };
  await untilReady(program);
  return {
    directory,
    url: `https://127.0.0.1:${port}`,
    kubeconfig,
    kubectl: kubectlWith(kubeconfig),
    kubectlWith,
    stop,
  };
}

async function untilReady(program: RunningProgram): Promise<void> {
  const spoken = new Promise<void>((resolve) => {
    program.child.stdout?.on("data", () => {
      if (program.output().includes(READY)) resolve();
    });
  });
  const ended = program.result.then(({ code, stderr }) => {
    throw new Error(`the control plane ended with ${code} before it was ready:\n${stderr}`);
  });
  await Promise.race([spoken, ended]);
  // Its end is looked at when it is stopped.
  ended.catch(() => undefined);
}
