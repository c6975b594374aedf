import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { claimPort } from "../../machine/claims.ts";
import type { UpstreamCluster } from "./upstream-cluster.ts";
import { type RunningUpstream, startUpstream, type UpstreamProgram } from "./upstream-program.ts";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/** What a Go program speaks with the server: `application/json` or protobuf's media type. */
interface SpeakingOptions {
  readonly contentType?: string;
}

const JSON_TYPE = "application/json";

/** A kube-scheduler that leads. */
export async function startScheduler(
  cluster: UpstreamCluster,
  program: UpstreamProgram,
  { contentType = JSON_TYPE }: SpeakingOptions = {},
): Promise<RunningUpstream> {
  const kubeconfig = await cluster.userFile("system:kube-scheduler");
  const config = join(cluster.directory, "scheduler.json");
  const configuration = {
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    clientConnection: { kubeconfig, contentType, acceptContentTypes: contentType },
    leaderElection: { leaderElect: true },
  };
  await writeFile(config, JSON.stringify(configuration));
  const args = [
    `--config=${config}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${await claimPort()}`,
    "--v=2",
  ];
  const started = startUpstream({ program, args, logFile: join(cluster.directory, "kube-scheduler.log") });
  return await untilLeading(cluster, started, "kube-scheduler");
}

/** A kube-controller-manager that leads, with all of its controllers that are on by default. */
export async function startKubeControllers(
  cluster: UpstreamCluster,
  program: UpstreamProgram,
  { contentType = JSON_TYPE }: SpeakingOptions = {},
): Promise<RunningUpstream> {
  const { authority, authorityKey, tokenKey } = cluster.files;
  const kubeconfig = await cluster.userFile("system:kube-controller-manager");
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--kube-api-content-type=${contentType}`,
    "--use-service-account-credentials",
    "--leader-elect",
    `--root-ca-file=${authority}`,
    `--cluster-signing-cert-file=${authority}`,
    `--cluster-signing-key-file=${authorityKey}`,
    `--service-account-private-key-file=${tokenKey}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    // Nobody renews the leases of nodes that exist in the API alone.
    "--node-monitor-grace-period=10m",
    "--bind-address=127.0.0.1",
    `--secure-port=${await claimPort()}`,
    `--flex-volume-plugin-dir=${join(cluster.directory, "volume-plugins")}`,
    "--v=2",
  ];
  const started = startUpstream({ program, args, logFile: join(cluster.directory, "kube-controller-manager.log") });
  return await untilLeading(cluster, started, "kube-controller-manager");
}

async function untilLeading(
  { api }: UpstreamCluster,
  started: RunningUpstream,
  lease: string,
): Promise<RunningUpstream> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    started.alive();
    const { status, body } = await api.json("GET", `${LEASES}/${lease}`);
    const { spec }: { spec?: { holderIdentity?: string } } = Object(body);
    if (status === 200 && spec?.holderIdentity) return started;
    if (Date.now() > deadline) {
      await started.kill();
      throw new Error(`${lease} does not lead:\n${started.log().slice(-6_000)}`);
    }
    await delay(POLL_MS);
  }
}
