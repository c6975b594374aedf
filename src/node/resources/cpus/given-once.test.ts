import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { declareTopologyMetrics } from "../topology/metrics.ts";
import { createSeededDice } from "./__fixtures__/dice.ts";
import {
  CACHES_OF_CORES,
  DUAL_SOCKET,
  EIGHT_NODES,
  FOUR_NODES,
  NO_PREFERENCES,
  showMachine,
} from "./__fixtures__/machines.ts";
import { createNodeCpus, type NodeCpus } from "./node-cpus.ts";

const DIRECTORY = "/var/lib/kubelet";
const FILE = `${DIRECTORY}/cpu_manager_state`;
const RESERVED = [0, 1];
const RESERVATIONS = { kubeReserved: {}, systemReserved: {}, reservedSystemCpus: "0-1", evictionHard: {} };
const PREFERENCES = [
  {},
  { dividesAcrossNumaNodes: true },
  { alignsToSockets: true },
  { prefersOneCache: true },
  { spreadsAcrossCores: true },
];
const MACHINES = [DUAL_SOCKET, FOUR_NODES, CACHES_OF_CORES, EIGHT_NODES];

function podOf(uid: string, cpu: number): Pod {
  const amounts = { cpu: String(cpu), memory: "1Gi" };
  return {
    metadata: { uid, name: uid },
    spec: { containers: [{ name: "main", resources: { requests: amounts, limits: amounts } }] },
  };
}

/** Agents on one machine, one after the other: the next begins where the last was killed. */
async function createLife(seed: number) {
  const dice = createSeededDice(seed);
  const host = createFakeHost();
  const topology = MACHINES[seed % MACHINES.length] ?? DUAL_SOCKET;
  showMachine(host.files, topology);
  await host.files.makeDirectory(DIRECTORY, 0o750);
  const preferences = { ...NO_PREFERENCES, ...PREFERENCES[seed % PREFERENCES.length] };
  const settings = {
    policy: "static",
    reconcileMs: 1,
    liftsQuota: true,
    isReservationStrict: seed % 2 === 0,
    ...preferences,
  } as const;
  let fate: "lives" | "killed before" | "killed after" | "fails" = "lives";
  const files = {
    list: host.files.list,
    read: host.files.read,
    stat: host.files.stat,
    makeDirectory: host.files.makeDirectory,
    async writeAtomically(...parameters: Parameters<typeof host.files.writeAtomically>) {
      if (fate === "fails") throw new Error("ENOSPC");
      if (fate !== "killed before") await host.files.writeAtomically(...parameters);
      if (fate !== "lives") throw new Error("killed");
    },
  };
  const decide = (next: typeof fate) => {
    fate = next;
  };
  const start = async () => {
    fate = "lives";
    const metrics = createMetrics();
    const alignment = declareTopologyMetrics(metrics, host.clock);
    const cpus = await createNodeCpus(
      { files, metrics, alignment },
      { settings, reservations: RESERVATIONS, directory: DIRECTORY },
    );
    if (cpus === undefined) throw new Error("the policy is static");
    return cpus;
  };
  return { dice, host, topology, start, decide };
}

function expectGivenOnce(cpus: NodeCpus, uids: Iterable<string>): void {
  const all = [...uids].flatMap((uid) => cpus.exclusiveOf(uid, "main"));
  expect(new Set(all).size).toBe(all.length);
  expect(all.filter((cpu) => RESERVED.includes(cpu))).toEqual([]);
}

async function give(cpus: NodeCpus, uid: string, wanted: number, numaNodes: ReadonlySet<number> | undefined) {
  const pod = podOf(uid, wanted);
  const [container] = pod.spec?.containers ?? [];
  if (container === undefined) throw new Error("the pod has a container");
  return await cpus.containers.allocate({ podUid: uid, pod, container }, { predecessors: [], numaNodes });
}

describe("CPUs, while agents are killed in between", () => {
  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    "are given once, and all come back (seed %i)",
    async (seed) => {
      const { dice, host, topology, start, decide } = await createLife(seed);
      let cpus = await start();
      const given = new Map<string, number[]>();
      const tried = new Set<string>();
      for (let step = 0; step < 60; step++) {
        const roll = dice();
        if (roll < 0.5) {
          const uid = `pod-${step}`;
          tried.add(uid);
          decide(dice() < 0.7 ? "lives" : dice() < 0.5 ? "killed before" : dice() < 0.5 ? "killed after" : "fails");
          const nodes = dice() < 0.5 ? undefined : new Set([Math.floor(dice() * 2)]);
          const refusal = await give(cpus, uid, 1 + Math.floor(dice() * 6), nodes);
          if (refusal === undefined) given.set(uid, cpus.exclusiveOf(uid, "main"));
          else cpus.release(uid);
          decide("lives");
        } else if (roll < 0.75) {
          const [uid] = [...given.keys()].filter(() => dice() < 0.4);
          if (uid !== undefined) {
            cpus.release(uid);
            given.delete(uid);
            await cpus.save();
          }
        } else {
          cpus = await start();
          cpus.releaseOthers(new Set(given.keys()));
        }
        expectGivenOnce(cpus, tried);
        // What was promised to a pod is its own, whoever was killed meanwhile.
        for (const [uid, own] of given) expect(cpus.exclusiveOf(uid, "main")).toEqual(own);
      }
      cpus = await start();
      cpus.releaseOthers(new Set());
      await cpus.save();
      const whole = await give(cpus, "last", topology.size - RESERVED.length, undefined);
      expect(whole).toBeUndefined();
      // A checkpoint that the disk has torn is refused, and none of its CPUs is given to others.
      const text = host.files.text(FILE) ?? "";
      host.files.put(FILE, text.slice(0, Math.floor(text.length * dice())));
      await expect(start()).rejects.toThrow(`delete the CPU manager checkpoint file "${FILE}"`);
    },
  );
});
