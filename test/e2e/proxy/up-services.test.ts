import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PODS, SERVICES } from "../../../src/api/kube-resource.ts";
import { removeRuntime } from "../../../src/cluster/containerd/remove-runtime.ts";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import { type ApiClient, createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { claimNetwork, claimPort } from "../../machine/claims.ts";
import { RUN_FOR_EVER, shellPod } from "../pods.ts";
import { runProgram } from "../program.ts";

const { bridge: BRIDGE, podCidr: POD_CIDR } = await claimNetwork();
/** Each node of the machine has a range of its own, because all share its rules. */
const SERVICE_CIDR = POD_CIDR.replace(/^10\./, "172.").replace(
  /^172\.\d+/,
  `172.${16 + (Number(POD_CIDR.split(".")[1]) % 16)}`,
);
/** A range of IPv6 beside each, where the kernel has that family; the number is the network's. */
const HAS_IPV6 = existsSync("/proc/net/if_inet6");
const NUMBER = POD_CIDR.split(".")[1];
const withIpv6 = (range: string, group: string) => (HAS_IPV6 ? `${range},fd00:${group}:${NUMBER}::/112` : range);
/** A load balancer of somebody's would have it; this machine is given it for a test. */
const EXTERNAL = `198.18.${NUMBER}.1`;
const NAMESPACE = "/api/v1/namespaces/default";
const LIMIT = { timeout: 120_000 };
/** The whole machine's files, for a pod. */
const MACHINE = {
  volumes: { volumes: [{ name: "machine", hostPath: { path: "/" } }] },
  mounts: { volumeMounts: [{ name: "machine", mountPath: "/machine", readOnly: true }] },
};
/** Asks the API who the caller is, until there is an answer. */
const ASK_WHO_I_AM = `
const { TOKEN, CA, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
const headers = { authorization: "Bearer " + TOKEN, "content-type": "application/json" };
const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const again = (error) => { console.log(String(error)); setTimeout(ask, 200); };
const ask = () => require("node:https")
  .request({ host, port, ca: CA, path, method: "POST", headers }, (answer) => answer.pipe(process.stdout))
  .on("error", again)
  .end(JSON.stringify(review));
ask();`;

describe("services of nodelet up", () => {
  let state: string;
  let api: ApiClient;
  beforeAll(async () => {
    state = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
    const { code, stdout, stderr } = await runProgram(
      ...["up", "--detach", "--state-dir", state, "--healthz-port", "0", "--api-port", `${await claimPort()}`],
      ...["--bridge", BRIDGE, "--pod-cidr", withIpv6(POD_CIDR, "a"), "--service-cidr", withIpv6(SERVICE_CIDR, "b")],
      "--kubelet-arg=--fail-swap-on=false",
    );
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    api = createApiClient(credentialsOf(await readFile(join(state, "kubeconfig"), "utf8")));
  });
  afterAll(async () => {
    api?.close();
    await runProgram("down", "--pods", "--now", "--state-dir", state);
    await removeRuntime(join(state, "containerd"));
    await rm(state, { recursive: true, force: true });
  });

  const createService = async (name: string, spec: object) => {
    const metadata = { name };
    const { spec: made } = SERVICES.read(await api.object("POST", `${NAMESPACE}/services`, { metadata, spec }));
    const [address = "", second = ""] = made?.clusterIPs ?? [];
    return { address, second };
  };
  const readPage = async (host: string) => {
    return await fetch(`http://${host}/index.html`)
      .then(async (answer) => await answer.text())
      .catch(String);
  };
  /** Runs a script in a pod to its end, and returns what it printed. */
  const askFromPod = async (name: string, script: string, { volumes = {}, mounts = {} } = {}) => {
    const pod = shellPod(name, script, { restartPolicy: "Never", ...volumes }, mounts);
    await api.object("POST", `${NAMESPACE}/pods`, pod);
    const phase = async () => PODS.read(await api.object("GET", `${NAMESPACE}/pods/${name}`)).status?.phase;
    await expect.poll(phase, LIMIT).toBe("Succeeded");
    return String((await api.json("GET", `${NAMESPACE}/pods/${name}/log`)).body);
  };

  it("lead from a pod and from the node to the pods behind them", async () => {
    const labels = { app: "web" };
    const web = shellPod("web", `httpd -p ${HAS_IPV6 ? "[::]:" : ""}8080 -h /www; ${RUN_FOR_EVER}`);
    await api.object("POST", `${NAMESPACE}/pods`, { ...web, metadata: { name: "web", labels } });
    const { address } = await createService("web", { selector: labels, ports: [{ port: 80, targetPort: 8080 }] });
    await expect.poll(async () => await readPage(address), LIMIT).toContain("It works");
    const asked = `until wget -qO- http://${address}/index.html; do sleep 0.2; done`;
    expect(await askFromPod("asks-service", asked)).toContain("It works");
  });

  it.runIf(HAS_IPV6)("lead to the pods behind them by either family", async () => {
    const ports = [{ port: 80, targetPort: 8080 }];
    const spec = { selector: { app: "web" }, ports, ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] };
    const { address, second } = await createService("both", spec);
    expect([address.includes(":"), second.includes(":")]).toEqual([true, false]);
    for (const host of [`[${address}]`, second]) {
      await expect.poll(async () => await readPage(host), LIMIT).toContain("It works");
    }
  });

  it("lead a pod to the API, with its service account", async () => {
    // The demo image has no client that checks certificates as programs do, so the pod runs this machine's Node.js.
    const script = `
      cd /var/run/secrets/kubernetes.io/serviceaccount
      export TOKEN="$(cat token)" CA="$(cat ca.crt)"
      exec chroot /machine ${process.execPath} -e '${ASK_WHO_I_AM}'`;
    expect(await askFromPod("asks-api", script, MACHINE)).toContain("system:serviceaccount:default:default");
  });

  it("are told of at the node's address where they want a load balancer", async () => {
    await createService("balanced", { type: "LoadBalancer", ports: [{ port: 18_080 }], selector: { app: "web" } });
    const ingress = async () =>
      SERVICES.read(await api.object("GET", `${NAMESPACE}/services/balanced`)).status?.loadBalancer?.ingress?.length;
    await expect.poll(ingress, LIMIT).toBeGreaterThan(0);
  });

  it("answer at addresses that others lead to the node, also after somebody removed their rules", async () => {
    await runCommand("ip", ["address", "add", `${EXTERNAL}/32`, "dev", "lo"]);
    try {
      await createService("external", {
        externalIPs: [EXTERNAL],
        ports: [{ port: 8_081, targetPort: 8080 }],
        selector: { app: "web" },
      });
      const page = async () => await readPage(`${EXTERNAL}:8081`);
      await expect.poll(page, LIMIT).toContain("It works");
      const tables = (await runCommand("nft", ["list", "tables"])).split("\n").filter((line) => line.includes(BRIDGE));
      for (const table of tables) await runCommand("nft", ["flush", ...table.split(" ")]);
      expect(await page()).not.toContain("It works");
      await expect.poll(page, { ...LIMIT, interval: 1_000 }).toContain("It works");
      expect(await readFile(join(state, "proxy.log"), "utf8")).toContain("somebody changed the rules of services");
    } finally {
      await runCommand("ip", ["address", "delete", `${EXTERNAL}/32`, "dev", "lo"]);
    }
  });

  it("leave no rule behind when the node is stopped", async () => {
    expect((await runProgram("down", "--state-dir", state)).code).toBe(0);
    expect(await runCommand("nft", ["list", "tables"])).not.toContain(BRIDGE);
  });
});
