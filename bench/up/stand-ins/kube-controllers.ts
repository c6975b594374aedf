import { join } from "node:path";
import type { Deployment } from "../../../src/api/gen/types.ts";
import { type Connection, expectStatus } from "../../control-plane/connection.ts";
import { findFreePorts } from "../../control-plane/server-process.ts";
import { createObject } from "../objects.ts";
import { type RunningStandIn, type StandInPlace, startStandIn } from "./stand-in-process.ts";

const DEPLOYMENTS_PATH = "/apis/apps/v1/namespaces/bench/deployments";
const ROOT_CERTIFICATES_PATH = "/api/v1/namespaces/bench/configmaps/kube-root-ca.crt";
const FIRST = "first";
/** More than the bench has it make. */
const CALLS_A_SECOND = 1_000;

/**
 * Starts kube-controller-manager as kubeadm sets it up, with its defaults but for two things: it is alone and leads at once,
 * and each of its controllers may call as often as it likes, where 20 calls a second would be most of what is measured.
 */
export async function startKubeControllers(place: StandInPlace, binary: string): Promise<RunningStandIn> {
  const kubeconfig = await place.issue("system:kube-controller-manager");
  const key = (name: string) => join(place.pki, name);
  const [port = 0] = await findFreePorts(1);
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--use-service-account-credentials",
    "--leader-elect=false",
    `--kube-api-qps=${CALLS_A_SECOND}`,
    `--kube-api-burst=${CALLS_A_SECOND}`,
    `--root-ca-file=${key("ca.crt")}`,
    `--cluster-signing-cert-file=${key("ca.crt")}`,
    `--cluster-signing-key-file=${key("ca.key")}`,
    `--service-account-private-key-file=${key("sa.key")}`,
    `--service-cluster-ip-range=${place.serviceCidr}`,
    "--allocate-node-cidrs",
    `--cluster-cidr=${place.podCidr}`,
    `--node-cidr-mask-size=${place.podCidr.split("/")[1]}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--flex-volume-plugin-dir=${join(place.directory, "volume-plugins")}`,
  ];
  const { connection, signal } = place;
  const logFile = join(place.directory, "kube-controller-manager.log");
  // Its controllers begin one after the other: this tells when that of deployments does.
  await createObject(connection, DEPLOYMENTS_PATH, emptyDeployment());
  const works = async () => {
    const deployment = await read<Deployment>(connection, `${DEPLOYMENTS_PATH}/${FIRST}`);
    return deployment?.status?.observedGeneration !== undefined && (await isThere(connection, ROOT_CERTIFICATES_PATH));
  };
  const running = await startStandIn({ binary, args, logFile, works, signal });
  const removed = await connection.request({ method: "DELETE", path: `${DEPLOYMENTS_PATH}/${FIRST}` });
  expectStatus(removed, 200);
  return running;
}

async function read<T>(connection: Connection, path: string): Promise<T | undefined> {
  const { status, body } = await connection.request({ method: "GET", path });
  return status === 200 ? JSON.parse(body.toString()) : undefined;
}

async function isThere(connection: Connection, path: string): Promise<boolean> {
  return (await read(connection, path)) !== undefined;
}

function emptyDeployment(): object {
  const labels = { app: FIRST };
  const template = { metadata: { labels }, spec: { containers: [{ name: "none", image: "none" }] } };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: FIRST } },
    spec: { replicas: 0, selector: { matchLabels: labels }, template },
  };
}
