import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { configMap, secret } from "./api-objects.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const SERVERS = await clusterServersUnderTest();

const SERVICES = [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "my-db", namespace: "default" },
    spec: {
      clusterIP: "10.96.7.7",
      ports: [
        { name: "main", port: 5432 },
        { name: "admin-ui", port: 80, protocol: "UDP" },
      ],
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "headless", namespace: "default" },
    spec: { clusterIP: "None", ports: [{ port: 1 }] },
  },
];

describe.each(SERVERS)("the environment of containers, on $name", (server) => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode({ server });
    await world.cluster.apply(
      secret("credentials", { user: "root", password: "s3cr3t" }),
      configMap("settings", { "app.mode": "fast", COLOUR: "red", user: "of the map" }),
      SERVICES,
    );
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  /** As the process was started with it: a shell would leave out names that it cannot use. */
  const environmentOf = async (name: string): Promise<Map<string, string>> => {
    await world.pod(name, isRunning);
    const lines = (await world.exec(name, ["cat", "/proc/1/environ"])).split("\0").filter((line) => line !== "");
    return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
  };
  const run = async (name: string, container: object, spec: object = {}): Promise<Map<string, string>> => {
    await world.create(shellPod(name, RUN_FOR_EVER, spec, container));
    return await environmentOf(name);
  };

  it.concurrent("expands references to what was defined before, and nothing else", async () => {
    const env = [
      { name: "A", value: "one" },
      { name: "B", value: "$(A)-two" },
      { name: "C", value: "$$(A)" },
      { name: "D", value: "$(MISSING) $(LATER) $A $(A" },
      { name: "LATER", value: "x" },
      { name: "API", value: "$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)" },
      { name: "A", value: "again" },
      { name: "EMPTY" },
    ];
    const args = ["$(B)", "$$(B)", "$(MISSING)", "$(A)"];
    const command = ["sh", "-c", `printf '%s|' "$@" > /tmp/args; ${RUN_FOR_EVER}`, "sh"];
    const found = await run("expansion", { env, command, args });
    expect(Object.fromEntries(found)).toMatchObject({
      A: "again",
      B: "one-two",
      C: "$(A)",
      D: "$(MISSING) $(LATER) $A $(A",
      API: "10.96.0.1:443",
      EMPTY: "",
      HOSTNAME: "expansion",
    });
    await settlesOn("one-two|$(B)|$(MISSING)|again|", () => world.shell("expansion", "cat /tmp/args"));
  });

  it.concurrent("comes from secrets and config maps: all keys or single ones, the later over the earlier", async () => {
    const envFrom = [
      { configMapRef: { name: "settings" } },
      { secretRef: { name: "credentials" } },
      { prefix: "MAP_", configMapRef: { name: "settings" } },
      { configMapRef: { name: "absent", optional: true } },
      { secretRef: { name: "absent", optional: true } },
    ];
    const keyOf = (kind: string, name: string, key: string, optional?: boolean) => ({
      valueFrom: { [kind]: { name, key, ...(optional && { optional }) } },
    });
    const env = [
      { name: "COLOUR", value: "blue" },
      { name: "PASSWORD", ...keyOf("secretKeyRef", "credentials", "password") },
      { name: "MODE", ...keyOf("configMapKeyRef", "settings", "app.mode") },
      { name: "NO_KEY", ...keyOf("secretKeyRef", "credentials", "absent", true) },
      { name: "NO_MAP", ...keyOf("configMapKeyRef", "absent", "absent", true) },
      { name: "BOTH", value: "$(user):$(PASSWORD)" },
    ];
    const found = await run("sources", { envFrom, env });
    expect(Object.fromEntries(found)).toMatchObject({
      user: "root",
      password: "s3cr3t",
      "app.mode": "fast",
      "MAP_app.mode": "fast",
      MAP_COLOUR: "red",
      MAP_user: "of the map",
      COLOUR: "blue",
      PASSWORD: "s3cr3t",
      MODE: "fast",
      BOTH: "root:s3cr3t",
    });
    expect([...found.keys()]).not.toContain("NO_KEY");
    expect([...found.keys()]).not.toContain("NO_MAP");
  });

  // Servers without the gate drop the field.
  it.runIf(server.minor >= 35).concurrent("comes from files that an init container wrote", async () => {
    const fileKeyRef = (key: string, more: object = {}) => ({
      valueFrom: { fileKeyRef: { volumeName: "made", path: "env/app.env", key, ...more } },
    });
    const env = [
      { name: "FIRST", ...fileKeyRef("first") },
      { name: "SECOND", ...fileKeyRef("second") },
      { name: "NO_KEY", ...fileKeyRef("third", { optional: true }) },
      { name: "NO_FILE", ...fileKeyRef("first", { path: "gone.env", optional: true }) },
      { name: "BOTH", value: "$(FIRST) $(SECOND)" },
    ];
    const lines = ["# made", "first='one # two'", "second='", "x' # so", ""].join("\n");
    const writer = {
      name: "writer",
      image: DEMO_IMAGE,
      command: ["sh", "-c", 'mkdir /made/env && printf %s "$LINES_OF_FILE" > /made/env/app.env'],
      env: [{ name: "LINES_OF_FILE", value: lines }],
      volumeMounts: [{ name: "made", mountPath: "/made" }],
    };
    const spec = { initContainers: [writer], volumes: [{ name: "made", emptyDir: {} }] };
    const found = await run("files", { env }, spec);
    expect(Object.fromEntries(found)).toMatchObject({ FIRST: "one # two", SECOND: "\nx", BOTH: "one # two \nx" });
    expect([...found.keys()].filter((name) => name.startsWith("NO_"))).toEqual([]);
  });

  it.runIf(server.minor >= 35).concurrent("says which file a container waits for", async () => {
    const fileKeyRef = { volumeName: "made", path: "app.env", key: "A" };
    const env = [{ name: "A", valueFrom: { fileKeyRef } }];
    await world.create(shellPod("no-file", RUN_FOR_EVER, { volumes: [{ name: "made", emptyDir: {} }] }, { env }));
    const pod = await world.pod("no-file", (candidate) => {
      return containerOf(candidate, "main")?.state?.waiting?.reason === "CreateContainerConfigError";
    });
    expect(containerOf(pod, "main")?.state?.waiting?.message).toContain(
      `env[0] (A) valueFrom.fileKeyRef: couldn't read env file "app.env" of volume "made": it does not exist`,
    );
  });

  it.concurrent("names the services that there were before the pod", async () => {
    const found = await run("services", {});
    const named = [...found].filter(([name]) => /^(KUBERNETES|MY_DB|HEADLESS)_/.test(name));
    expect(Object.fromEntries(named)).toEqual({
      KUBERNETES_SERVICE_HOST: "10.96.0.1",
      KUBERNETES_SERVICE_PORT: "443",
      KUBERNETES_SERVICE_PORT_HTTPS: "443",
      KUBERNETES_PORT: "tcp://10.96.0.1:443",
      KUBERNETES_PORT_443_TCP: "tcp://10.96.0.1:443",
      KUBERNETES_PORT_443_TCP_PROTO: "tcp",
      KUBERNETES_PORT_443_TCP_PORT: "443",
      KUBERNETES_PORT_443_TCP_ADDR: "10.96.0.1",
      MY_DB_SERVICE_HOST: "10.96.7.7",
      MY_DB_SERVICE_PORT: "5432",
      MY_DB_SERVICE_PORT_MAIN: "5432",
      MY_DB_SERVICE_PORT_ADMIN_UI: "80",
      MY_DB_PORT: "tcp://10.96.7.7:5432",
      MY_DB_PORT_5432_TCP: "tcp://10.96.7.7:5432",
      MY_DB_PORT_5432_TCP_PROTO: "tcp",
      MY_DB_PORT_5432_TCP_PORT: "5432",
      MY_DB_PORT_5432_TCP_ADDR: "10.96.7.7",
      MY_DB_PORT_80_UDP: "udp://10.96.7.7:80",
      MY_DB_PORT_80_UDP_PROTO: "udp",
      MY_DB_PORT_80_UDP_PORT: "80",
      MY_DB_PORT_80_UDP_ADDR: "10.96.7.7",
    });
  });

  it.concurrent("names the API server alone where service links are turned off", async () => {
    const found = await run("no-links", {}, { enableServiceLinks: false });
    expect(found.get("KUBERNETES_SERVICE_HOST")).toBe("10.96.0.1");
    expect([...found.keys()].filter((name) => name.startsWith("MY_DB"))).toEqual([]);
  });

  it.concurrent("tells of the pod: names, labels, addresses of pod and host", async () => {
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const env = [
      field("NAME", "metadata.name"),
      field("NAMESPACE", "metadata.namespace"),
      field("UID", "metadata.uid"),
      field("LABEL", "metadata.labels['tier']"),
      field("NOTE", "metadata.annotations['example.com/note']"),
      field("NO_LABEL", "metadata.labels['absent']"),
      field("NODE", "spec.nodeName"),
      field("ACCOUNT", "spec.serviceAccountName"),
      field("POD_IP", "status.podIP"),
      field("POD_IPS", "status.podIPs"),
      field("HOST_IP", "status.hostIP"),
      ...(server.minor >= 28 ? [field("HOST_IPS", "status.hostIPs")] : []),
      { name: "URL", value: "http://$(POD_IP)/" },
    ];
    const metadata = {
      name: "downward",
      labels: { tier: "back" },
      annotations: { "example.com/note": "two\nlines" },
    };
    await world.create({ ...shellPod("downward", RUN_FOR_EVER, {}, { env }), metadata });
    const found = await environmentOf("downward");
    const { metadata: { uid } = {}, status = {} } = await world.pod("downward", isRunning);
    expect(status.podIP).toMatch(/^10\./);
    expect(status.hostIP).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(Object.fromEntries(found)).toMatchObject({
      NAME: "downward",
      NAMESPACE: "default",
      UID: uid,
      LABEL: "back",
      NOTE: "two\nlines",
      NO_LABEL: "",
      NODE: NODE_NAME,
      ACCOUNT: "default",
      POD_IP: status.podIP,
      POD_IPS: status.podIPs?.map(({ ip }) => ip).join(","),
      HOST_IP: status.hostIP,
      ...(server.minor >= 28 && { HOST_IPS: status.hostIPs?.map(({ ip }) => ip).join(",") }),
      URL: `http://${status.podIP}/`,
    });
  });

  it.concurrent("tells of resources in the units asked for, rounded up, and of the node's where the container has none", async () => {
    const resource = (name: string, resource: string, divisor?: string) => ({
      name,
      valueFrom: { resourceFieldRef: { resource, ...(divisor && { divisor }) } },
    });
    const env = [
      resource("CPU", "limits.cpu"),
      resource("MILLIS", "limits.cpu", "1m"),
      resource("REQUEST", "requests.cpu", "1m"),
      resource("MEMORY", "limits.memory"),
      resource("MEBIBYTES", "limits.memory", "1Mi"),
      resource("MEGABYTES", "requests.memory", "1M"),
    ];
    const resources = { limits: { cpu: "1250m", memory: "100Mi" }, requests: { cpu: "10m", memory: "5Mi" } };
    const found = await run("resources", { env, resources });
    expect(Object.fromEntries(found)).toMatchObject({
      CPU: "2",
      MILLIS: "1250",
      REQUEST: "10",
      MEMORY: "104857600",
      MEBIBYTES: "100",
      MEGABYTES: "6",
    });
    const unlimited = await run("unlimited", {
      env: [resource("CPU", "limits.cpu"), resource("MEMORY", "limits.memory")],
    });
    const { allocatable = {} } = (await world.nodeObject()).status ?? {};
    expect(unlimited.get("CPU")).toBe(allocatable["cpu"]);
    expect(Number(unlimited.get("MEMORY"))).toBe(Number.parseInt(allocatable["memory"] ?? "", 10) * 1024);
  });

  it.concurrent.each([
    ["secret", "secretRef", 'secret "late-secret" not found', secret("late-secret", { KEY: "x" })],
    ["config map", "configMapRef", 'configmap "late-config-map" not found', configMap("late-config-map", { KEY: "x" })],
  ])("waits for a %s that is missing, says so, and starts when it is there", async (kind, field, message, object) => {
    const name = `late-${kind.replace(" ", "-")}`;
    await world.create(shellPod(name, RUN_FOR_EVER, {}, { envFrom: [{ [field]: { name } }] }));
    const waits = (pod: Pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CreateContainerConfigError";
    const waiting = await world.pod(name, waits);
    expect(containerOf(waiting, "main")?.state?.waiting?.message).toBe(message);
    expect(waiting.status?.phase).toBe("Pending");
    await world.event(name, { type: "Warning", reason: "Failed", message: `Error: ${message}` });
    await world.cluster.apply(object);
    const pod = await world.pod(name, isRunning, 5_000);
    expect(pod.status?.containerStatuses?.[0]?.restartCount).toBe(0);
    expect((await environmentOf(name)).get("KEY")).toBe("x");
  });

  it.concurrent("waits for a key that is missing", async () => {
    await world.cluster.apply(configMap("growing", { other: "y" }));
    const env = [{ name: "KEY", valueFrom: { configMapKeyRef: { name: "growing", key: "key" } } }];
    await world.create(shellPod("late-key", RUN_FOR_EVER, {}, { env }));
    const waits = (pod: Pod) => containerOf(pod, "main")?.state?.waiting?.reason === "CreateContainerConfigError";
    const { waiting } = containerOf(await world.pod("late-key", waits), "main")?.state ?? {};
    expect(waiting?.message).toBe("couldn't find key key in ConfigMap default/growing");
    await world.cluster.apply(configMap("growing", { key: "x", other: "y" }));
    await world.pod("late-key", isRunning, 5_000);
    expect((await environmentOf("late-key")).get("KEY")).toBe("x");
  });
});
