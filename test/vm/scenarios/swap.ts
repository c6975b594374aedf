import type { Node, ResourceRequirements } from "../../../src/api/gen/types.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, idOfRunning, readPod, readPodCgroup, untilPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { PROCESSES, untilServiceAnswers, withDropIn, writeDropIn } from "./service.ts";
import { readMetrics, readSummary } from "./statistics.ts";

const FILE = "/var/vm-swap";
const MIB = 1024 * 1024;
const SWAP_MIB = 1024;
const PAGE_BYTES = 4096;
const REQUEST_MIB = 56;
const LIMIT_MIB = 64;
/** More than the limit, by less than what the container may swap. */
const HELD_MIB = 68;
const LIMITED = "failSwapOn: false\nmemorySwap: { swapBehavior: LimitedSwap }";

const memory = (mebibytes: number) => ({ memory: `${mebibytes}Mi` });
const BURSTABLE: ResourceRequirements = { requests: memory(REQUEST_MIB), limits: memory(LIMIT_MIB) };
const GUARANTEED: ResourceRequirements = {
  requests: { cpu: "50m", ...memory(32) },
  limits: { cpu: "50m", ...memory(32) },
};
/** Each container of these has no swap, whatever the node allows: all but a Burstable pod's that asks for less than it may have. */
const WITHOUT: ReadonlyArray<readonly [name: string, resources: ResourceRequirements]> = [
  ["guaranteed", GUARANTEED],
  ["best-effort", {}],
  ["request-is-limit", { requests: { cpu: "50m", ...memory(32) }, limits: memory(32) }],
];

/** A machine that swaps. Most have none, and there a node agent never meets any of this. */
export const swap: Scenario = {
  name: "swap",
  promise:
    "on a machine with swap the node says how much, Burstable pods alone may use a share, and secrets never reach it",
  needs: "qemu",
  run: async (at) => {
    await at.machine.read(`fallocate -l ${SWAP_MIB}M ${FILE} && chmod 600 ${FILE} && mkswap ${FILE} && swapon ${FILE}`);
    try {
      await withDropIn(at, "failSwapOn: true", async () => {
        await expectRefusal(at);
        await writeDropIn(at, LIMITED);
        await untilServiceAnswers(at);
        await expectToldByNode(at);
        await expectShares(at);
        await expectUse(at);
        await expectMemoryVolumes(at);
      });
      await createPod(at, "burstable", { container: { resources: BURSTABLE } });
      expectSame(await readSwapLimit(at, "burstable"), "0", "memory.swap.max by default, which is NoSwap");
      await deletePods(at, "burstable");
    } finally {
      await at.machine.read(`swapoff ${FILE}; rm -f ${FILE}`);
    }
  },
};

/** The agent does not start, and its log says why. */
async function expectRefusal(at: Stage): Promise<void> {
  const log = "/var/lib/nodelet/agent.log";
  const length = Number(await at.machine.read(`stat -c %s ${log}`));
  await at.machine.read(`kill $(${PROCESSES.agent})`);
  const words = "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false";
  at.note(
    await until(at, `tail -c +${length} ${log} | grep -F '${words}' | head -1`, (output) => output.includes(words)),
  );
  at.note(await at.machine.read("nodelet status 2>&1 || true"));
}

async function expectToldByNode(at: Stage): Promise<void> {
  const node = await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}`, (text) => capacityOf(text) !== undefined);
  const total = await at.machine.read("awk '$1 == \"SwapTotal:\" { print $2 * 1024 }' /proc/meminfo");
  expectSame(`${capacityOf(node)}`, total, "the swap that the node's status tells");
}

function capacityOf(text: string): number | undefined {
  const { status }: Node = JSON.parse(text);
  return status?.nodeInfo?.swap?.capacity;
}

/** Upstream's formula: the request's share of the machine's memory is the share of its swap. */
async function expectShares(at: Stage): Promise<void> {
  await createPod(at, "burstable", { container: { resources: BURSTABLE } });
  for (const [name, resources] of WITHOUT) await createPod(at, name, { container: { resources } });
  const [ram = 0n, total = 0n] = (
    await at.machine.read("awk '/^(MemTotal|SwapTotal):/ { print $2 * 1024 }' /proc/meminfo")
  )
    .split("\n")
    .map(BigInt);
  const share = (BigInt(REQUEST_MIB * MIB) * total) / ram;
  const found = await readSwapLimit(at, "burstable");
  at.note(`${REQUEST_MIB} MiB of ${ram / BigInt(MIB)} MiB may swap ${found} bytes of ${total}`);
  expectSame(found, `${share - (share % BigInt(PAGE_BYTES))}`, "memory.swap.max of a Burstable pod's container");
  for (const [name] of WITHOUT) expectSame(await readSwapLimit(at, name), "0", `memory.swap.max of ${name}`);
  await deletePods(at, "burstable", ...WITHOUT.map(([name]) => name));
}

/** What a container may not keep in memory is swapped, it runs on, and everybody is told. */
async function expectUse(at: Stage): Promise<void> {
  const script = `(head -c ${HELD_MIB * MIB} /dev/zero; echo held >&2; exec sleep 3600) | tail > /dev/null`;
  const container = { resources: BURSTABLE };
  await createPod(at, "swapping", { script, container, spec: { terminationGracePeriodSeconds: 1 } });
  await until(at, "ask-api GET /api/v1/namespaces/default/pods/swapping/log", (log) => log.includes("held"));
  const { node, pods } = await readSummary(at, ({ pods }) => used(pods.find(isSwapping)) > 0);
  const pod = pods.find(isSwapping);
  const container0 = pod?.containers[0]?.swap;
  at.note(`swapped: container ${JSON.stringify(container0)}, pod ${used(pod)}, node ${used(node)}`);
  expectTrue(
    (container0?.swapUsageBytes ?? 0) > 0 && used(node) > 0,
    "the summary tells no swap of the container or node",
  );
  const limit = Number(await readSwapLimit(at, "swapping"));
  expectSame(`${sum(container0)}`, `${limit}`, "used and available swap of the container");
  expectSame(`${sum(node.swap)}`, `${SWAP_MIB * MIB - PAGE_BYTES}`, "used and available swap of the node");
  const series = `container_swap_limit_bytes{container="main",namespace="default",pod="swapping"} ${limit}`;
  expectTrue((await readMetrics(at, "/metrics/resource")).includes(series), `/metrics/resource lacks ${series}`);
  const { status } = await readPod(at, "swapping");
  expectSame(`${status?.containerStatuses?.[0]?.restartCount}`, "0", "how often the container was begun anew");
  await deletePods(at, "swapping");
}

type Swapping = { readonly swap?: { readonly swapUsageBytes?: number; readonly swapAvailableBytes?: number } };
const isSwapping = ({ podRef }: { readonly podRef: { readonly name: string } }) => podRef.name === "swapping";
const used = (subject: Swapping | undefined) => subject?.swap?.swapUsageBytes ?? 0;
const sum = (swap: Swapping["swap"]) => (swap?.swapUsageBytes ?? 0) + (swap?.swapAvailableBytes ?? 0);

/** The kernel keeps them in memory, since 6.4 by an option of the mount. */
async function expectMemoryVolumes(at: Stage): Promise<void> {
  const secret = { metadata: { name: "vm-swap" }, stringData: { word: "mellon" } };
  await at.machine.read(`ask-api POST /api/v1/namespaces/default/secrets <<'EOF'\n${JSON.stringify(secret)}\nEOF`);
  await createPod(at, "in-memory", {
    container: {
      volumeMounts: [
        { name: "scratch", mountPath: "/scratch" },
        { name: "secret", mountPath: "/secret" },
      ],
    },
    spec: {
      volumes: [
        { name: "scratch", emptyDir: { medium: "Memory" } },
        { name: "secret", secret: { secretName: "vm-swap" } },
      ],
    },
  });
  const { metadata } = await untilReady(at, "in-memory");
  const mounts = await at.machine.read(`grep ' /var/lib/kubelet/pods/${metadata?.uid}/volumes/' /proc/mounts`);
  at.note(mounts);
  for (const name of ["~empty-dir/scratch", "~secret/secret"])
    expectTrue(new RegExp(`${name} tmpfs [^ ]*\\bnoswap\\b`).test(mounts), `${name} may be swapped`);
  await deletePods(at, "in-memory");
  await at.machine.read("ask-api DELETE /api/v1/namespaces/default/secrets/vm-swap");
}

async function readSwapLimit(at: Stage, name: string): Promise<string> {
  const pod = await untilPod(at, name, (one) => idOfRunning(one) !== undefined);
  const id = idOfRunning(pod)?.replace(/^.*\/\//, "");
  return await at.machine.read(`cat ${await readPodCgroup(at, pod)}/*${id}.scope/memory.swap.max`);
}
