import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Container, Pod, Volume } from "../../../api/gen/types.ts";
import { computePodStorage, findExceededLimit } from "./judge-local-storage.ts";
import { readLocalStorageLimits } from "./local-storage-limits.ts";
import type { PodStorageUsage } from "./pod-storage-usage.ts";

const MIB = 1024 ** 2;

const container = (name: string, limit?: string): Container => ({
  name,
  ...(limit !== undefined && { resources: { limits: { "ephemeral-storage": limit } } }),
});
const podOf = (containers: Container[], volumes: Volume[] = [], spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod => ({
  metadata: { name: "p" },
  spec: { containers, volumes, ...spec },
});
const usageOf = (usage: Partial<Omit<PodStorageUsage, "volumes">> & { volumes?: Record<string, number> } = {}) => ({
  containers: [],
  podLogs: 0,
  hostFiles: 0,
  ...usage,
  volumes: new Map(Object.entries(usage.volumes ?? {})),
});
const layer = (name: string, writableLayer: number, logs = 0) => ({ name, writableLayer, logs });

const judge = (pod: Pod, usage: PodStorageUsage, how: { imageFs?: boolean | undefined } = {}) => {
  const limits = readLocalStorageLimits(pod);
  const hasDedicatedImageFs = "imageFs" in how ? how.imageFs : false;
  return limits && findExceededLimit({ pod, limits, usage, hasDedicatedImageFs });
};

const DISK: Volume = { name: "v", emptyDir: { sizeLimit: "4Mi" } };
const MEMORY: Volume = { name: "v", emptyDir: { medium: "Memory", sizeLimit: "4Mi" } };
const FREE: Volume = { name: "free", emptyDir: {} };
const MAP: Volume = { name: "map", configMap: { name: "m" } };
const SECRET: Volume = { name: "secret", secret: { secretName: "s" } };

const OF_VOLUME = 'Usage of EmptyDir volume "v" exceeds the limit "4Mi". ';
const OF_POD = (limit: string) => `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
const OF_CONTAINER = (name: string, limit: string) =>
  `Container ${name} exceeded its local ephemeral storage limit "${limit}". `;

const PAIR = podOf([container("a", "4Mi"), container("b", "100Mi")]);
const ONE = podOf([container("a", "4Mi")], [FREE, MAP, SECRET]);

interface Case {
  why: string;
  pod: Pod;
  usage: PodStorageUsage;
  imageFs?: boolean | undefined;
  message: string | undefined;
}

describe("a pod exceeds", () => {
  it.each<Case>([
    { why: "nothing without limits", pod: podOf([container("a")], [FREE]), usage: usageOf(), message: undefined },
    {
      why: "nothing at its limit",
      pod: podOf([container("a")], [DISK]),
      usage: usageOf({ volumes: { v: 4 * MIB } }),
      message: undefined,
    },
    {
      why: "the size of an emptyDir by one byte",
      pod: podOf([container("a")], [DISK]),
      usage: usageOf({ volumes: { v: 4 * MIB + 1 } }),
      message: OF_VOLUME,
    },
    {
      why: "the size of one in memory",
      pod: podOf([container("a")], [MEMORY]),
      usage: usageOf({ volumes: { v: 5 * MIB } }),
      message: OF_VOLUME,
    },
    {
      why: "nothing where the volume could not be measured",
      pod: podOf([container("a")], [DISK]),
      usage: usageOf(),
      message: undefined,
    },
    {
      why: "nothing by a sizeLimit of 0, which is none",
      pod: podOf([container("a")], [{ name: "v", emptyDir: { sizeLimit: "0" } }]),
      usage: usageOf({ volumes: { v: 5 } }),
      message: undefined,
    },
    {
      why: "an emptyDir's limit before that of the pod",
      pod: podOf([container("a", "1Mi")], [DISK]),
      usage: usageOf({ volumes: { v: 5 * MIB } }),
      message: OF_VOLUME,
    },
    {
      why: "the limit of its one container, by its layer and its logs",
      pod: ONE,
      usage: usageOf({ containers: [layer("a", 2 * MIB, 2 * MIB + 1)] }),
      message: OF_POD("4Mi"),
    },
    {
      why: "it by emptyDirs and config maps",
      pod: ONE,
      usage: usageOf({ volumes: { free: 4 * MIB, map: 1 } }),
      message: OF_POD("4Mi"),
    },
    {
      why: "it by logs of the pod and files of the node",
      pod: ONE,
      usage: usageOf({ podLogs: 2 * MIB, hostFiles: 2 * MIB + 1 }),
      message: OF_POD("4Mi"),
    },
    {
      why: "nothing by what is in memory",
      pod: podOf([container("a", "1Mi")], [{ name: "v", emptyDir: { medium: "Memory" } }, SECRET]),
      usage: usageOf({ volumes: { v: 50 * MIB, secret: 50 * MIB } }),
      message: undefined,
    },
    {
      why: "a limit of 0 by one byte",
      pod: podOf([container("a", "0")]),
      usage: usageOf({ podLogs: 1 }),
      message: OF_POD("0"),
    },
    {
      why: "the limit of one of its containers",
      pod: PAIR,
      usage: usageOf({ containers: [layer("a", 3 * MIB, 2 * MIB), layer("b", 90 * MIB)] }),
      message: OF_CONTAINER("a", "4Mi"),
    },
    {
      why: "that by its logs alone where layers are on another disk",
      pod: PAIR,
      usage: usageOf({ containers: [layer("a", 3 * MIB, 2 * MIB)] }),
      imageFs: true,
      message: undefined,
    },
    {
      why: "that by its logs, wherever layers are",
      pod: PAIR,
      usage: usageOf({ containers: [layer("a", 0, 5 * MIB)] }),
      imageFs: true,
      message: OF_CONTAINER("a", "4Mi"),
    },
    {
      why: "no container's while it is not known where layers are",
      pod: PAIR,
      usage: usageOf({ containers: [layer("a", 0, 5 * MIB)] }),
      imageFs: undefined,
      message: undefined,
    },
    {
      why: "only the pod's by a sidecar",
      pod: podOf([container("a", "4Mi")], [], {
        initContainers: [{ ...container("side", "1Mi"), restartPolicy: "Always" }],
      }),
      usage: usageOf({ containers: [layer("side", 2 * MIB)] }),
      message: undefined,
    },
    {
      why: "limits as they are written canonically",
      pod: podOf([container("a", "4096Ki")]),
      usage: usageOf({ podLogs: 5 * MIB }),
      message: OF_POD("4Mi"),
    },
    {
      why: "nothing of a container without a limit beside one that has some",
      pod: podOf([container("a"), container("b", "10Mi")]),
      usage: usageOf({ containers: [layer("a", 9 * MIB)] }),
      message: undefined,
    },
  ])("$why", ({ pod, usage, message, ...how }) => {
    expect(judge(pod, usage, how)?.message).toBe(message);
  });

  it("what is counted by its kind", () => {
    const signals = [
      judge(podOf([container("a")], [DISK]), usageOf({ volumes: { v: 5 * MIB } })),
      judge(ONE, usageOf({ podLogs: 5 * MIB })),
      judge(PAIR, usageOf({ containers: [layer("a", 5 * MIB)] })),
    ].map((exceeded) => exceeded?.signal);
    expect(signals).toEqual(["emptydirfs.limit", "ephemeralpodfs.limit", "ephemeralcontainerfs.limit"]);
  });

  it("never less for using more, and never anything within all its limits", () => {
    const amount = fc.integer({ min: 0, max: 10 * MIB });
    const usages = fc.record({ free: amount, v: amount, a: amount, b: amount, logs: amount, podLogs: amount });
    const pod = podOf([container("a", "4Mi"), container("b", "8Mi")], [FREE, DISK]);
    const measured = ({
      free,
      v,
      a,
      b,
      logs,
      podLogs,
    }: Record<"free" | "v" | "a" | "b" | "logs" | "podLogs", number>) =>
      usageOf({ volumes: { free, v }, containers: [layer("a", a, logs), layer("b", b)], podLogs });
    fc.assert(
      fc.property(usages, amount, (usage, more) => {
        const before = judge(pod, measured(usage));
        if (before !== undefined) expect(judge(pod, measured({ ...usage, v: usage.v + more }))).toBeDefined();
        const isWithin = usage.v <= 4 * MIB && usage.a + usage.logs <= 4 * MIB && usage.b <= 8 * MIB;
        const total = computePodStorage(pod, measured(usage));
        expect(total).toBe(Object.values(usage).reduce((sum, bytes) => sum + bytes, 0));
        expect(before === undefined).toBe(isWithin && total <= 12 * MIB);
      }),
    );
  });
});
