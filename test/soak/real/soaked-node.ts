import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeRuntime } from "../../../src/cluster/containerd/remove-runtime.ts";
import { type ApiClient, type Credentials, createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { runProgram } from "../../e2e/program.ts";
import { claimNetwork, claimPort } from "../../machine/claims.ts";

export type ProgramName = "agent" | "control plane" | "containerd";

/** The built program as a user runs it: `nodelet up` with a containerd of its own, beneath one directory. */
export interface SoakedNode {
  readonly directory: string;
  readonly manifests: string;
  readonly bridge: string;
  readonly podCidr: string;
  readonly api: ApiClient;
  /** An administrator's. */
  readonly credentials: Credentials;
  /** The process that runs now; undefined while there is none. */
  pidOf(program: ProgramName): Promise<number | undefined>;
  destroy(): Promise<void>;
}

const PID_FILES: Readonly<Record<ProgramName, string>> = {
  agent: "agent.pid",
  "control plane": "control-plane.pid",
  containerd: "containerd/containerd.pid",
};

/** Rejects with what the program says where it does not come up. */
export async function startSoakedNode(): Promise<SoakedNode> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-soak-"));
  const state = join(directory, "state");
  const manifests = join(directory, "manifests");
  await mkdir(manifests);
  const { bridge, podCidr, serviceCidr } = await claimNetwork();
  const destroy = async () => {
    await runProgram("down", "--pods", "--state-dir", state);
    await removeRuntime(join(state, "containerd"));
    await rm(directory, { recursive: true, force: true });
  };
  const { code, stdout, stderr } = await runProgram(
    ...["up", "--detach", "--state-dir", state, "--manifests", manifests, "--healthz-port", "0"],
    ...["--bridge", bridge, "--pod-cidr", podCidr, "--kubelet-arg=--fail-swap-on=false"],
    ...["--api-port", String(await claimPort()), "--service-cidr", serviceCidr],
  );
  if (code !== 0) {
    await destroy();
    throw new Error(`nodelet up ended with ${code}:\n${stdout}${stderr}`);
  }
  const credentials = credentialsOf(await readFile(join(state, "kubeconfig"), "utf8"));
  return {
    directory,
    manifests,
    bridge,
    podCidr,
    api: createApiClient(credentials),
    credentials,
    async pidOf(program) {
      const text = await readFile(join(state, PID_FILES[program]), "utf8").catch(() => "");
      const pid = Number(text.split(/\s/)[0]);
      return pid > 0 ? pid : undefined;
    },
    destroy,
  };
}
