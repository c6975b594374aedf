import { describe, expect, it } from "vitest";
import { type ConfigurationFile, composeConfiguration } from "./compose-configuration.ts";
import { DEFAULT_KUBELET_CONFIGURATION, KUBELET_CONFIGURATION_FIELDS } from "./kubelet-configuration.ts";
import { parseFlags } from "./parse-flags.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

function file(yaml: string, path = "/etc/kubelet/config.yaml"): ConfigurationFile {
  return { path, text: `${HEAD}${yaml}` };
}

function compose(yaml: string, options: { dropIns?: string[]; argv?: string[] } = {}) {
  const parsed = parseFlags(options.argv ?? []);
  if (!parsed.ok) throw new Error(parsed.error);
  const dropIns = (options.dropIns ?? []).map((text, index) => file(text, `/etc/kubelet/conf.d/${index}.conf`));
  return composeConfiguration({ file: file(yaml), dropIns, flags: parsed.values });
}

describe("the defaults", () => {
  it("hold without any file or flag", () => {
    const { configuration, errors, warnings } = composeConfiguration({ dropIns: [], flags: new Map() });
    expect(configuration).toEqual(DEFAULT_KUBELET_CONFIGURATION);
    expect([errors, warnings]).toEqual([[], []]);
    expect(Object.isFrozen(configuration) && Object.isFrozen(configuration.logging.options.text)).toBe(true);
  });

  it("are upstream's", () => {
    expect(DEFAULT_KUBELET_CONFIGURATION).toMatchObject({
      syncFrequency: 60_000,
      readOnlyPort: 0,
      healthzPort: 10_248,
      maxPods: 110,
      enforceNodeAllocatable: ["pods"],
      evictionHard: { "memory.available": "100Mi", "imagefs.inodesFree": "5%" },
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: 120_000 } },
      logging: { format: "text", flushFrequency: 5_000 },
    });
    expect(Object.keys(KUBELET_CONFIGURATION_FIELDS).length).toBe(125);
  });

  it.each<[string, object]>([
    ["syncFrequency: 0s", { syncFrequency: 60_000 }],
    ["maxPods: 0", { maxPods: 110 }],
    ["healthzPort: 0", { healthzPort: 0 }],
    ["eventRecordQPS: 0", { eventRecordQPS: 0 }],
    ["maxPods: null", { maxPods: 110 }],
    ["authentication: null", { authentication: DEFAULT_KUBELET_CONFIGURATION.authentication }],
    ["nodeStatusUpdateFrequency: 1m", { nodeStatusUpdateFrequency: 60_000, nodeStatusReportFrequency: 60_000 }],
    ["nodeStatusUpdateFrequency: 1m\nnodeStatusReportFrequency: 2m", { nodeStatusReportFrequency: 120_000 }],
    ["maxParallelImagePulls: 4", { serializeImagePulls: false }],
    ["podPidsLimit: -7", { podPidsLimit: -1 }],
    ["evictionHard: {memory.available: 1Gi}", { evictionHard: { "memory.available": "1Gi" } }],
    [
      "evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true",
      { evictionHard: { "memory.available": "1Gi", "nodefs.available": "10%" } },
    ],
    ["enforceNodeAllocatable: []", { enforceNodeAllocatable: [] }],
    ["logging: {flushFrequency: 1000000}", { logging: { flushFrequency: 1 } }],
    ["tracing: {samplingRatePerMillion: 5}", { tracing: { samplingRatePerMillion: 5 } }],
    ["iptablesMasqueradeBit: 017", { iptablesMasqueradeBit: 15 }],
  ])("with %j", (yaml, expected) => {
    const { configuration, errors } = compose(yaml);
    expect(errors).toEqual([]);
    expect(configuration).toMatchObject(expected);
  });
});

describe("precedence", () => {
  it("is flags over drop-ins over the file over defaults", () => {
    const { configuration } = compose("maxPods: 1\npodsPerCore: 1\nregistryBurst: 1\nsyncFrequency: 1s", {
      dropIns: ["podsPerCore: 2\nregistryBurst: 2\nsyncFrequency: 2s", "registryBurst: 3\nsyncFrequency: 3s"],
      argv: ["--sync-frequency=4s"],
    });
    expect(configuration).toMatchObject({ maxPods: 1, podsPerCore: 2, registryBurst: 3, syncFrequency: 4_000 });
  });

  it("lets a flag set the zero that a file cannot", () => {
    expect(compose("registryBurst: 5", { argv: ["--registry-burst=0"] }).configuration.registryBurst).toBe(0);
  });

  it("merges drop-ins field by field, maps key by key, lists whole; null is the default again", () => {
    const { configuration } = compose(
      "authentication: {anonymous: {enabled: true}, x509: {clientCAFile: /a}}\nclusterDNS: [1.1.1.1, 2.2.2.2]\nsystemReserved: {cpu: 1}\nmaxPods: 5".replace(
        "{cpu: 1}",
        '{cpu: "1"}',
      ),
      {
        dropIns: [
          "authentication: {anonymous: {enabled: false}}\nclusterDNS: [3.3.3.3]\nsystemReserved: {memory: 1Gi}\nmaxPods: null",
        ],
      },
    );
    expect(configuration).toMatchObject({
      authentication: { anonymous: { enabled: false }, x509: { clientCAFile: "/a" } },
      clusterDNS: ["3.3.3.3"],
      systemReserved: { cpu: "1", memory: "1Gi" },
      maxPods: 110,
    });
  });

  it("joins feature gates one by one and replaces every other map", () => {
    const { configuration, featureGates } = compose(
      "featureGates: {EventedPLEG: true, MemoryQoS: true}\nevictionHard: {memory.available: 1Gi}",
      { argv: ["--feature-gates=MemoryQoS=false,QOSReserved=true", "--eviction-hard=nodefs.available<5%"] },
    );
    expect(configuration.featureGates).toEqual({ EventedPLEG: true, MemoryQoS: false, QOSReserved: true });
    expect(featureGates).toMatchObject({ EventedPLEG: true, MemoryQoS: false, QOSReserved: true });
    expect(configuration.evictionHard).toEqual({ "nodefs.available": "5%" });
  });

  it("resolves relative paths against the file that names them", () => {
    const { configuration } = compose("staticPodPath: manifests", { dropIns: ["tlsCertFile: ../pki/kubelet.crt"] });
    expect(configuration).toMatchObject({
      staticPodPath: "/etc/kubelet/manifests",
      tlsCertFile: "/etc/kubelet/pki/kubelet.crt",
    });
  });
});

describe("errors and warnings", () => {
  it.each([
    ["maxPods: x", "maxPods", 'must be of type int32, not the string "x" (in /etc/kubelet/config.yaml)'],
    ["maxPods: 1.5", "maxPods", "must be of type int32, not the number 1.5 (in /etc/kubelet/config.yaml)"],
    [
      "maxPods: 99999999999999999999",
      "maxPods",
      "must be of type int32, not the number 100000000000000000000 (in /etc/kubelet/config.yaml)",
    ],
    ["syncFrequency: 60", "syncFrequency", "must be of type duration, not the number 60 (in /etc/kubelet/config.yaml)"],
    [
      "clusterDNS: 1.1.1.1",
      "clusterDNS",
      'must be of type []string, not the string "1.1.1.1" (in /etc/kubelet/config.yaml)',
    ],
    ["clusterDNS: [1]", "clusterDNS[0]", "must be of type string, not the number 1 (in /etc/kubelet/config.yaml)"],
    [
      "authentication: {x509: 5}",
      "authentication.x509",
      "must be of type object, not the number 5 (in /etc/kubelet/config.yaml)",
    ],
    [
      "featureGates: {NodeSwap: 1}",
      "featureGates[NodeSwap]",
      "must be of type bool, not the number 1 (in /etc/kubelet/config.yaml)",
    ],
  ])("%s", (yaml, path, message) => {
    const found = compose(yaml).errors;
    expect(found).toHaveLength(1);
    expect(found[0]?.path).toBe(path);
    expect(found[0]?.message.replace("99999999999999999999", "100000000000000000000")).toBe(message);
  });

  it.each([
    ["kind: Pod\napiVersion: v1", /no kind "Pod" is registered for version "v1"/],
    ["apiVersion: kubelet.config.k8s.io/v1beta1", /Object 'Kind' is missing/],
    ["kind: KubeletConfiguration", /is registered for version ""/],
    ["- a", /must hold an object/],
    ["a: [", /couldn't be read as YAML or JSON: line 1/],
  ])("names the file of %j", (text, message) => {
    const { errors } = composeConfiguration({ file: { path: "/k.yaml", text }, dropIns: [], flags: new Map() });
    expect(errors).toEqual([{ path: "/k.yaml", message: expect.stringMatching(message) }]);
  });

  it("reads JSON too", () => {
    const text = '{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","maxPods":7}';
    const { configuration } = composeConfiguration({ file: { path: "/k.json", text }, dropIns: [], flags: new Map() });
    expect(configuration.maxPods).toBe(7);
  });

  it("knows no field of a later version than 1.36", () => {
    const { configuration, warnings } = compose("defaultPodSysctls: {net.ipv4.tcp_syncookies: '1'}\nmaxPods: 7");
    expect(warnings).toEqual([expect.stringContaining('strict decoding error: unknown field "defaultPodSysctls"')]);
    expect(configuration).toMatchObject({ maxPods: 7 });
    expect(configuration).not.toHaveProperty("defaultPodSysctls");
  });

  it("warns of unknown and repeated fields, and loads the rest", () => {
    const { configuration, errors, warnings } = compose(
      "bogus: 1\nauthentication: {x: 1}\nsyncFrequency: 1s\nsyncFrequency: 2s",
    );
    expect(errors).toEqual([]);
    expect(configuration.syncFrequency).toBe(2_000);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Using lenient decoding as strict decoding failed: .*config.yaml: strict decoding error: unknown field "bogus", unknown field "authentication.x", .*"syncFrequency" already set/,
      ),
    ]);
  });

  it("names the fields without effect that are set, and only those", () => {
    const { warnings } = compose(
      "maxPods: 110\nregistryPullQPS: 3\nhairpinMode: promiscuous-bridge\nenableDebugFlagsHandler: true\nstaticPodPath: /x\nlogging: {flushFrequency: 3s}",
    );
    expect(warnings).toEqual([
      "Field enableDebugFlagsHandler is accepted but has no effect",
      "Field hairpinMode is accepted but has no effect",
      "Field logging.flushFrequency is accepted but has no effect",
    ]);
  });

  it("needs no notice of what is switched off, or is zero for the default, as kubeadm writes", () => {
    const logging =
      '{flushFrequency: 0, verbosity: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}}';
    expect(compose(`logging: ${logging}\nruntimeRequestTimeout: 0s\nenableProfilingHandler: false`).warnings).toEqual(
      [],
    );
  });

  it("refuses aliases that stand for more than there is memory, even in fields that do not exist", () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `x${index + 1}: &x${index + 1} {a: *x${index}, b: *x${index}}`,
    );
    const { errors } = compose(["x0: &x0 {a: 1}", ...levels].join("\n"), { dropIns: ["maxPods: 2"] });
    expect(errors.map(({ message }) => message).join()).toMatch(/aliases repeat too much/);
  });
});
