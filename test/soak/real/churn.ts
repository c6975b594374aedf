import { rm, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAbort } from "../../../src/base/abort.ts";
import { messageOf } from "../../../src/base/errors.ts";
import type { Random } from "../../../src/base/random.ts";
import { RUN_FOR_EVER, shellPod } from "../../e2e/pods.ts";
import { claimPort } from "../../machine/claims.ts";
import type { SoakedNode } from "./soaked-node.ts";

/** Pods that come and go for as long as the soak lasts, and users who look at them and leave in the middle. */
interface Churn {
  /** Resolves when the signal has fired and nothing of it is under way. */
  run(signal: AbortSignal): Promise<void>;
  /** What was done so far, by kind. */
  readonly counts: ReadonlyMap<string, number>;
}

const PODS = "/api/v1/namespaces/default/pods";
/** So many of each kind live at a time. */
const MOST_API_PODS = 6;
const MOST_STATIC_PODS = 2;
const PAUSE_MS = 2_000;
const LONGEST_LOOK_MS = 3_000;

export function createChurn(node: SoakedNode, random: Random): Churn {
  const { api, manifests } = node;
  const counts = new Map<string, number>();
  const alive: string[] = [];
  const files: string[] = [];
  let made = 0;

  const count = (kind: string) => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const attempt = async (kind: string, work: () => Promise<unknown>) => {
    try {
      await work();
      count(kind);
    } catch (error) {
      if (isAbort(error)) throw error;
      // A server that is being killed answers nobody.
      count(`${kind} failed`);
    }
  };

  const create = async () => {
    const name = `soak-${++made}`;
    const spec = await randomSpec(random);
    await attempt("pod", async () => await api.object("POST", PODS, shellPodOf(name, spec)));
    alive.push(name);
  };
  const remove = async () => {
    const [name] = alive.splice(0, 1);
    if (name === undefined) return;
    const query = { gracePeriodSeconds: random.next() < 0.2 ? 0 : 1 };
    const call = async () => {
      const { status } = await api.json("DELETE", `${PODS}/${name}`, undefined, { query });
      if (status >= 500) throw new Error(`deleting ${name} was answered with ${status}`);
    };
    await attempt("deletion", call);
    // What could not be deleted is deleted later.
    if (await isThere(name)) alive.push(name);
  };
  const isThere = async (name: string) => {
    const answer = await api.json("GET", `${PODS}/${name}`).catch((error: unknown) => ({ status: messageOf(error) }));
    if (typeof answer.status !== "number") return true;
    return answer.status !== 404 && !JSON.stringify(answer).includes("deletionTimestamp");
  };
  const changeManifests = async () => {
    const file = `static-${++made}.json`;
    if (files.length >= MOST_STATIC_PODS) await rm(join(manifests, files.shift() ?? ""), { force: true });
    await writeFile(join(manifests, file), JSON.stringify(shellPod(`static-${made}`, RUN_FOR_EVER)));
    files.push(file);
    count("manifest");
  };
  const look = async () => {
    const name = alive[Math.floor(random.next() * alive.length)];
    if (name === undefined) return;
    const path =
      random.next() < 0.5
        ? `${PODS}/${name}/log?follow=true`
        : `${PODS}/${name}/exec?command=sh&command=-c&command=sleep%2030&stdout=true&container=main`;
    await attempt("session cut off", async () => await openAndCut(node, path, random.next() * LONGEST_LOOK_MS));
  };

  return {
    counts,
    async run(signal) {
      while (!signal.aborted) {
        if (alive.length < MOST_API_PODS) await create();
        else await remove();
        if (random.next() < 0.3) await changeManifests();
        if (random.next() < 0.6) await look();
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}

function shellPodOf(name: string, { spec, container }: { spec: object; container: object }): object {
  return shellPod(name, `echo ${name} begins; ${RUN_FOR_EVER}`, spec, container);
}

/** Volumes, probes, a port of the node's: what of it a pod has is up to the dice. */
async function randomSpec(random: Random): Promise<{ spec: object; container: object }> {
  const has = (share: number) => random.next() < share;
  const volumes = [
    { name: "scratch", emptyDir: {} },
    ...(has(0.5) ? [{ name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }] : []),
    ...(has(0.5)
      ? [{ name: "facts", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } }]
      : []),
  ];
  const exec = { command: ["true"] };
  return {
    spec: { volumes },
    container: {
      volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })),
      ...(has(0.5) && { readinessProbe: { exec, periodSeconds: 2, timeoutSeconds: 5 } }),
      ...(has(0.3) && { livenessProbe: { exec, periodSeconds: 3, timeoutSeconds: 10 } }),
      ...(has(0.3) && { ports: [{ containerPort: 80, hostPort: await claimPort() }] }),
    },
  };
}

/** A client that asks for a stream, as WebSocket where that is asked for, and is gone in the middle of it. */
async function openAndCut({ credentials }: SoakedNode, path: string, afterMs: number): Promise<void> {
  const { url, caPem: ca, certificatePem: cert, keyPem: key } = credentials;
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": Buffer.from("0123456789abcdef").toString("base64"),
    "sec-websocket-protocol": "v5.channel.k8s.io",
  };
  const headers = path.includes("/exec") ? upgrade : {};
  const tls = { ca, ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  const request = httpsRequest(new URL(path, url), { ...tls, headers, agent: false });
  request.on("error", () => undefined);
  request.on("response", (response) => response.resume().on("error", () => undefined));
  request.on("upgrade", (_response, socket) => socket.on("error", () => undefined));
  request.end();
  await delay(afterMs);
  request.destroy();
}
