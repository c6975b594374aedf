import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { bind, node, pod, RUNNING, setStatus } from "./manifests.ts";
import { rowsOf } from "./tables.ts";

const POD = "/api/v1/namespaces/default/pods/web";

describe("kubectl describe and events", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
    const container = {
      resources: { requests: { cpu: "100m" } },
      env: [{ name: "COLOR", value: "red" }],
      ports: [{ containerPort: 80 }],
    };
    const items = [node("worker"), pod({ name: "web", labels: { app: "web" } }, {}, container)];
    await kubectl.ok("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
    await bind(kubectl, { pods: ["web"], to: "worker" });
    await setStatus(kubectl, POD, RUNNING);
    const uid = await kubectl.ok("get pod web -o jsonpath={.metadata.uid}");
    const now = new Date().toISOString().replace(/\.\d+/, "");
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "web.1" },
      involvedObject: { apiVersion: "v1", kind: "Pod", name: "web", namespace: "default", uid },
      type: "Normal",
      reason: "Started",
      message: "Started container main",
      source: { component: "kubelet", host: "worker" },
      count: 2,
      firstTimestamp: now,
      lastTimestamp: now,
    };
    await kubectl.ok("create -f -", { input: event });
  });
  afterAll(async () => await cluster?.stop());

  it("describes a pod with its events", async () => {
    const described = await kubectl.ok("describe pod web");
    for (const line of [
      /^Name: +web$/m,
      /^Node: +worker\/$/m,
      /^Labels: +app=web$/m,
      /^Status: +Running$/m,
      /^IP: +10\.1\.0\.4$/m,
      /^ {4}Image: +registry\.example\/app:1$/m,
      /^ {4}State: +Running$/m,
      /^ {6}cpu: +100m$/m,
      /^ {6}COLOR: +red$/m,
      /^ {6}\/var\/run\/secrets\/kubernetes\.io\/serviceaccount from kube-api-access-\w{5} \(ro\)$/m,
      /^ {2}Ready +True *$/m,
      /^QoS Class: +Burstable$/m,
      /^Tolerations: +node\.kubernetes\.io\/not-ready:NoExecute op=Exists for 300s$/m,
      /^ {2}Normal +Started +\d+s \(x2 over \d+s\) +kubelet(, worker)? +Started container main$/m,
    ]) {
      expect(described).toMatch(line);
    }
  });

  it("describes a node with what runs on it", async () => {
    const described = await kubectl.ok("describe node worker");
    for (const line of [
      /^Name: +worker$/m,
      /^Roles: +worker$/m,
      /^Unschedulable: +false$/m,
      /^ {2}Ready +True .* KubeletReady +the kubelet is well$/m,
      /^ {2}InternalIP: +192\.0\.2\.5$/m,
      /^ {2}Kubelet Version: +v1\.35\.0$/m,
      /^PodCIDR: +10\.1\.0\.0\/24$/m,
      /^ {2}default +web +100m \(2%\)/m,
      /^ {2}cpu +100m \(2%\) +0 \(0%\)$/m,
    ]) {
      expect(described).toMatch(line);
    }
  });

  it("describes a namespace, a service, a secret and a deployment", async () => {
    expect(await kubectl.ok("describe namespace default")).toMatch(
      /^Name: +default\nLabels: +kubernetes\.io\/metadata\.name=default\nAnnotations: +<none>\nStatus: +Active\n\nNo resource quota\.\n\nNo LimitRange resource\.\n$/,
    );
    const service = await kubectl.ok("describe service kubernetes");
    expect(service).toMatch(/^IP: +10\.96\.0\.1$/m);
    expect(service).toMatch(/^Port: +https +443\/TCP$/m);
    expect(service).toMatch(/^TargetPort: +\d+\/TCP$/m);
    await kubectl.ok("create secret generic hidden --from-literal=password=open-sesame");
    const secret = await kubectl.ok("describe secret hidden");
    expect(secret).toMatch(/^password: +11 bytes$/m);
    expect(secret).not.toContain("open-sesame");
    await kubectl.ok("create deployment app --image=registry.example/app:1");
    const described = async () => await kubectl.ok("describe deployment app");
    const counts = /^Replicas: +1 desired \| 1 updated \| 1 total \| 0 available \| 1 unavailable$/m;
    await expect.poll(described).toMatch(counts);
    const deployment = await described();
    expect(deployment).toMatch(/^NewReplicaSet: +app-[a-z0-9]+ \(1\/1 replicas created\)$/m);
    expect(deployment).toMatch(/^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/m);
  });

  it("prints events as get and as their own command do", async () => {
    // The control plane's own news of the node and of a deployment's pod are not what this is about.
    const ofPods = "--field-selector involvedObject.kind=Pod,involvedObject.name=web";
    expect(rowsOf(await kubectl.ok(`get events ${ofPods}`))).toEqual([
      "LAST SEEN | TYPE | REASON | OBJECT | MESSAGE",
      "AGE | Normal | Started | pod/web | Started container main",
    ]);
    expect(rowsOf(await kubectl.ok(`get events ${ofPods} -o wide`))).toEqual([
      "LAST SEEN | TYPE | REASON | OBJECT | SUBOBJECT | SOURCE | MESSAGE | FIRST SEEN | COUNT | NAME",
      "AGE | Normal | Started | pod/web |  | kubelet, worker | Started container main | AGE | 2 | web.1",
    ]);
    expect(await kubectl.ok("get events.events.k8s.io web.1 -o jsonpath={.note}")).toBe("Started container main");
    expect(await kubectl.ok("get events --field-selector involvedObject.name=nobody -o name")).toBe("");
    if (kubectl.minor < 26) return;
    expect(await kubectl.ok("events --for pod/web")).toMatch(
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\d+s \(x2 over \d+s\) +Normal +Started +Pod\/web +Started container main\n$/,
    );
  });
});
