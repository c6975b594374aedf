import { describe, expect, test } from "vitest";
import type { Affinity, Node, WeightedPodAffinityTerm } from "../../../api/gen/types.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { cluster, type NodeOptions, nodeInfo, type PodOptions, pending, placed } from "../__fixtures__/objects.ts";
import type { NodeInfo } from "../cluster.ts";
import { scoreImages } from "./image-locality.ts";
import { scoreNeighbours } from "./inter-pod-affinity.ts";
import { scoreTaints } from "./preferences.ts";
import { scoreBalance, scoreFreeShare } from "./resources.ts";
import { scoreSpread } from "./topology-spread.ts";

// The numbers are those of upstream's tests of each plugin.
const MIB = 1024 * 1024;

describe("spreading", () => {
  const foo = { matchLabels: { foo: "" } };
  const kin = (count: number) =>
    Array.from({ length: count }, (_, index) => placed(`p${index}`, { labels: { foo: "" } }));
  const constraint = (topologyKey: string, maxSkew = 1, labelSelector: object | undefined = foo) => {
    return { topologyKey, maxSkew, whenUnsatisfiable: "ScheduleAnyway", ...(labelSelector && { labelSelector }) };
  };
  const HOST = "kubernetes.io/hostname";
  const spreading = (...topologySpreadConstraints: Array<ReturnType<typeof constraint>>): PodOptions => {
    return { labels: { foo: "" }, topologySpreadConstraints };
  };
  /** Nodes with so many pods each, in their zones. */
  const crowded = (counts: readonly number[], zones: readonly string[] = []) =>
    counts.map((count, index) => {
      const zone = zones[index];
      return nodeInfo({ name: `n${index}`, labels: zone === undefined ? {} : { zone } }, kin(count));
    });

  test.each<[string, PodOptions, NodeInfo[], number, number[]]>([
    ["no pods", spreading(constraint(HOST)), crowded([0, 0]), 2, [100, 100]],
    ["as many everywhere", spreading(constraint(HOST)), crowded([1, 1]), 2, [100, 100]],
    ["2/1/0/3", spreading(constraint(HOST)), crowded([2, 1, 0, 3]), 4, [20, 60, 100, 0]],
    ["no selector", spreading(constraint(HOST, 1, {})), crowded([2, 1, 0, 3]), 4, [100, 100, 100, 100]],
    ["2/1/0/3 with a skew of 2", spreading(constraint(HOST, 2)), crowded([2, 1, 0, 3]), 4, [33, 66, 100, 16]],
    ["4/3/2/1 with a skew of 3", spreading(constraint(HOST, 3)), crowded([4, 3, 2, 1]), 4, [44, 66, 77, 100]],
    ["4/2/1/~3~", spreading(constraint(HOST)), crowded([4, 2, 1, 3]), 3, [33, 83, 100]],
    ["4/2/1/~3~ by zone", spreading(constraint("zone")), crowded([4, 2, 1, 3], ["a", "a", "b", "b"]), 3, [75, 75, 100]],
  ])("%s", (_what, pod, nodes, fitting, scores) => {
    expect(scoreSpread(pending(pod), nodes.slice(0, fitting), cluster(nodes))).toEqual(scores);
  });

  test("a node without the label is the worst", () => {
    const unlabelled = { ...nodeInfo({ name: "n1" }, kin(2)), labels: { n: "n1" } };
    const [first, , third] = crowded([4, 0, 1]);
    if (first === undefined || third === undefined) throw new Error("there are three nodes");
    const nodes = [first, unlabelled, third];
    expect(scoreSpread(pending(spreading(constraint(HOST))), nodes, cluster(nodes))).toEqual([16, 0, 100]);
  });

  test("without constraints, pods of a service or a controller are spread by host and zone", () => {
    const pod = pending({ labels: { foo: "" } });
    const nodes = crowded([4, 3, 2, 1]);
    expect(scoreSpread(pod, nodes, cluster(nodes))).toBeUndefined();
    expect(scoreSpread(pod, nodes, cluster(nodes, { selectorOfKin: () => labelSelectorOf(foo) }))).toEqual([
      44, 66, 77, 100,
    ]);
  });
});

describe("images", () => {
  const image = (size: number, ...more: string[]) => {
    return { names: [`gcr.io/${size}:latest`, ...more], sizeBytes: size * MIB };
  };
  const withImages = (name: string, ...sizes: number[]) => {
    const status: Node["status"] = { images: sizes.map((size) => image(size)) };
    return nodeInfo({ name, status });
  };
  const using = (sizes: readonly number[], spec: Partial<PodOptions> = {}): PodOptions => {
    return { containers: sizes.map((size, index) => ({ name: `c${index}`, image: `gcr.io/${size}` })), ...spec };
  };
  const A = withImages("a", 40, 300, 2000);
  const B = withImages("b", 250, 10);
  const ALL = withImages("all", 300, 600, 900);
  const SMALL = withImages("small", 20, 30, 40);
  const HUGE = withImages("huge", 4000, 30);
  const NONE = nodeInfo({ name: "none" });

  test.each<[string, PodOptions, NodeInfo[], number[]]>([
    ["the larger of two", using([40, 250]), [A, B], [0, 5]],
    ["both of two", using([40, 300]), [A, B], [7, 0]],
    ["enough is enough", using([10, 4000]), [HUGE, B], [100, 0]],
    ["less of it where others have none", using([10, 4000]), [HUGE, B, NONE], [66, 0, 0]],
    ["many large ones", using([300, 600, 900]), [withImages("c", 600, 40, 900), ALL, NONE], [32, 36, 0]],
    ["small ones", using([30, 40]), [SMALL, HUGE], [1, 0]],
    ["a volume", using([30], { volumes: [{ name: "v", image: { reference: "gcr.io/300" } }] }), [ALL, HUGE], [12, 0]],
    ["init containers", using([30], { initContainers: [{ name: "i", image: "gcr.io/300" }] }), [A, SMALL], [6, 0]],
  ])("%s", (_what, pod, nodes, scores) => {
    expect(scoreImages(pending(pod), nodes, cluster(nodes))).toEqual(scores);
  });
});

describe("resources", () => {
  const sized = (cpu: string, memory: string, pods: Array<Record<string, string>> = []) => {
    return nodeInfo(
      { allocatable: { cpu, memory } },
      pods.map((requests, index) => placed(`p${index}`, { requests })),
    );
  };
  test("the freer node is the better one", () => {
    const pod = pending({ requests: { cpu: "3", memory: "5k" } });
    const nodes = [sized("4", "10k"), sized("6", "10k")];
    expect(scoreFreeShare(pod, nodes, cluster(nodes))).toEqual([37, 50]);
    const used = [sized("10", "20k", [{ cpu: "6", memory: "0" }]), sized("10", "20k", [{ cpu: "6", memory: "5k" }])];
    const little = pending({ requests: { cpu: "0", memory: "0" } });
    expect(scoreFreeShare(little, used, cluster(used))).toEqual([70, 57]);
    expect(scoreFreeShare(pending({ requests: { cpu: "11", memory: "0" } }), used, cluster(used))).toEqual([50, 37]);
  });

  test("a container that asks for nothing counts a little, each of them", () => {
    const nodes = [sized("1", "1000Mi")];
    const containers = ["a", "b"].map((name) => ({ name, image: "i" }));
    expect(scoreFreeShare(pending(), nodes, cluster(nodes))).toEqual([85]);
    expect(scoreFreeShare(pending({ containers }), nodes, cluster(nodes))).toEqual([70]);
  });

  test("the node that the pod balances is the better one", () => {
    const pod = pending({ requests: { cpu: "3", memory: "5k" } });
    const nodes = [sized("4", "10k"), sized("6", "10k")];
    // The shares 3/4 and 5/10 deviate by 12.5 %, 3/6 and 5/10 do not.
    expect(scoreBalance(pod, nodes, cluster(nodes))).toEqual([68, 75]);
    expect(scoreBalance(pending({ requests: { cpu: "0" } }), nodes, cluster(nodes))).toBeUndefined();
    const uneven = [sized("10", "20k", [{ cpu: "6" }]), sized("10", "20k", [{ memory: "12k" }])];
    expect(scoreBalance(pending({ requests: { memory: "6k" } }), uneven, cluster(uneven))).toEqual([82, 67]);
  });
});

describe("neighbours", () => {
  const term = (weight: number, topologyKey: string, ...values: string[]): WeightedPodAffinityTerm => {
    const labelSelector = { matchExpressions: [{ key: "security", operator: "In", values }] };
    return { weight, podAffinityTerm: { topologyKey, labelSelector } };
  };
  const near = (...preferredDuringSchedulingIgnoredDuringExecution: WeightedPodAffinityTerm[]): Affinity => {
    return { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution } };
  };
  const far = (...preferredDuringSchedulingIgnoredDuringExecution: WeightedPodAffinityTerm[]): Affinity => {
    return { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution } };
  };
  const needing: Affinity = {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        term(0, "region", "S1", "value2").podAffinityTerm,
        { topologyKey: "region", labelSelector: { matchExpressions: [{ key: "security", operator: "Exists" }] } },
      ],
    },
  };
  const s = (security: string, affinity?: Affinity) => {
    return placed("p", { labels: { security }, ...(affinity && { affinity }) });
  };
  const at = (labels: NodeOptions["labels"], ...pods: ReturnType<typeof s>[]) => {
    return nodeInfo({ name: JSON.stringify(labels), labels: labels ?? {} }, pods);
  };
  const CHINA = { region: "China" };
  const INDIA = { region: "India" };
  const AZ1 = { az: "az1" };
  const withS1 = near(term(5, "region", "S1"));
  const withS2 = near(term(6, "region", "S2"));
  const awayFromS1 = far(term(5, "az", "S1"));

  test.each<[string, PodOptions, NodeInfo[], number[] | undefined]>([
    ["nobody prefers anything", { labels: { security: "S1" } }, [at(CHINA), at(INDIA)], undefined],
    ["near", { affinity: withS1 }, [at(CHINA, s("S1")), at(INDIA, s("S2")), at(AZ1, s("S1"))], [100, 0, 0]],
    [
      "in the same place",
      { affinity: withS1 },
      [at(CHINA, s("S1")), at({ ...CHINA, ...AZ1 }), at(INDIA)],
      [100, 100, 0],
    ],
    [
      "near more of them",
      { affinity: withS2 },
      [
        at(CHINA, s("S2"), s("S2")),
        at(INDIA, s("S2")),
        at({ ...CHINA, n: "3" }, s("S2")),
        at({ ...INDIA, n: "5" }, s("S2")),
      ],
      [100, 0, 100, 0],
    ],
    [
      "near those that prefer it",
      { labels: { security: "S2" } },
      [at(CHINA, s("S1", withS1)), at(INDIA, s("S2", withS2)), at(AZ1)],
      [0, 100, 0],
    ],
    [
      "near those that need it",
      { labels: { security: "S1" } },
      [at(CHINA, s("S1", needing)), at(INDIA, s("S2", needing)), at(AZ1)],
      [100, 100, 0],
    ],
    ["far", { affinity: awayFromS1 }, [at(AZ1, s("S1")), at(CHINA, s("S2"))], [0, 100]],
    ["far where that means something", { affinity: awayFromS1 }, [at(AZ1, s("S1")), at(CHINA, s("S1"))], [0, 100]],
    [
      "far from those that want it far",
      { labels: { security: "S1" } },
      [at(AZ1, s("S2", awayFromS1)), at({ az: "az2" }, s("S1", far(term(5, "az", "S2"))))],
      [0, 100],
    ],
  ])("%s", (_what, pod, nodes, scores) => {
    expect(scoreNeighbours(pending(pod), nodes, cluster(nodes))).toEqual(scores);
  });
});

test("the fewer taints ask to stay away, the better", () => {
  const tainted = (...keys: string[]) => {
    return nodeInfo({
      name: `n${keys.length}`,
      spec: { taints: keys.map((key) => ({ key, effect: "PreferNoSchedule" })) },
    });
  };
  const nodes = [tainted(), tainted("a"), tainted("a", "b")];
  expect(scoreTaints(pending(), nodes, cluster(nodes))).toEqual([100, 50, 0]);
  const tolerations = [{ key: "a", operator: "Exists" }];
  expect(scoreTaints(pending({ tolerations }), nodes, cluster(nodes))).toEqual([100, 100, 0]);
});
