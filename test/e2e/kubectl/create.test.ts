import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { newestKubectl } from "./kubectl-binaries.ts";
import { rowsOf } from "./tables.ts";

const { minor } = newestKubectl();

/** Commands, and what each prints when it made its object. */
const CREATED: ReadonlyArray<[string, string]> = [
  ["create namespace team", "namespace/team created"],
  ["create serviceaccount bot", "serviceaccount/bot created"],
  ["create configmap settings --from-literal=a=1 --from-literal=b=2", "configmap/settings created"],
  ["create secret generic plain --from-literal=password=open", "secret/plain created"],
  ["create role reader --verb=get,list --resource=pods", "role.rbac.authorization.k8s.io/reader created"],
  [
    "create rolebinding readers --role=reader --serviceaccount=default:bot",
    "rolebinding.rbac.authorization.k8s.io/readers created",
  ],
  [
    "create clusterrole deployer --verb=* --resource=deployments.apps",
    "clusterrole.rbac.authorization.k8s.io/deployer created",
  ],
  [
    "create clusterrolebinding deployers --clusterrole=deployer --user=jane",
    "clusterrolebinding.rbac.authorization.k8s.io/deployers created",
  ],
  ["create priorityclass high --value=1000 --description=first", "priorityclass.scheduling.k8s.io/high created"],
  ["create deployment app --image=registry.example/app:1 --replicas=2", "deployment.apps/app created"],
  ["create job once --image=registry.example/app:1", "job.batch/once created"],
  ["create service clusterip front --tcp=80:8080", "service/front created"],
  ["create service nodeport outside --tcp=80 --node-port=30080", "service/outside created"],
  ["create service externalname far --external-name=far.example", "service/far created"],
  ["create poddisruptionbudget calm --selector=app=app --min-available=1", "poddisruptionbudget.policy/calm created"],
  ["create cronjob nightly --image=registry.example/app:1 --schedule=@daily", "cronjob.batch/nightly created"],
  ["create ingress entry --rule=web.example/*=front:80", "ingress.networking.k8s.io/entry created"],
];
/** An old kubectl knows them only in versions that no new cluster serves. */
const SINCE: Readonly<Record<string, number>> = { poddisruptionbudget: 22, cronjob: 22, ingress: 22, job: 20 };

const kindOf = (command: string) => command.split(" ")[1] ?? "";

describe("kubectl create, run and expose", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
  });
  afterAll(async () => await cluster?.stop());

  it.each(CREATED.filter(([command]) => (SINCE[kindOf(command)] ?? 0) <= minor))(
    "makes: kubectl %s",
    async (command, printed) => {
      expect(await kubectl.ok(command)).toBe(`${printed}\n`);
      const { stderr } = await kubectl.run(command);
      // A port is given before the name is looked at.
      expect(stderr).toContain(command.includes("--node-port") ? "port is already allocated" : "already exists");
    },
  );

  it("keeps what the commands were told", async () => {
    expect(await kubectl.ok("get configmap settings -o jsonpath={.data}")).toBe('{"a":"1","b":"2"}');
    expect(await kubectl.ok("get secret plain -o jsonpath={.type}:{.data.password}")).toBe("Opaque:b3Blbg==");
    expect(rowsOf(await kubectl.ok("get priorityclasses"))).toEqual([
      expect.stringMatching(/^NAME \| VALUE \| GLOBAL-DEFAULT \| AGE/),
      expect.stringMatching(/^high \| 1000 \| false \| AGE/),
      expect.stringMatching(/^system-cluster-critical \| 2000000000 \| false \| AGE/),
      expect.stringMatching(/^system-node-critical \| 2000001000 \| false \| AGE/),
    ]);
    const deployments = async () => rowsOf(await kubectl.ok("get deployments -o wide"));
    await expect
      .poll(deployments)
      .toEqual([
        "NAME | READY | UP-TO-DATE | AVAILABLE | AGE | CONTAINERS | IMAGES | SELECTOR",
        "app | 0/2 | 2 | 0 | AGE | app | registry.example/app:1 | app=app",
      ]);
    const services = rowsOf(await kubectl.ok("get services far front kubernetes outside"));
    expect(services.map((row) => row.replace(/10\.96\.\d+\.\d+/, "IP"))).toEqual([
      "NAME | TYPE | CLUSTER-IP | EXTERNAL-IP | PORT(S) | AGE",
      "far | ExternalName | <none> | far.example | <none> | AGE",
      "front | ClusterIP | IP | <none> | 80/TCP | AGE",
      "kubernetes | ClusterIP | IP | <none> | 443/TCP | AGE",
      "outside | NodePort | IP | <none> | 80:30080/TCP | AGE",
    ]);
    expect(await kubectl.ok("get role reader -o jsonpath={.rules}")).toBe(
      '[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]',
    );
  });

  it("makes secrets for registries and for TLS", async () => {
    const registry =
      "create secret docker-registry pull --docker-server=registry.example --docker-username=u --docker-password=p";
    expect(await kubectl.ok(registry)).toBe("secret/pull created\n");
    const key = join(cluster.directory, "tls.key");
    const certificate = join(cluster.directory, "tls.crt");
    const subject = ["-subj", "/CN=web.example", "-days", "1", "-nodes", "-newkey", "rsa:2048"];
    await promisify(execFile)("openssl", ["req", "-x509", ...subject, "-keyout", key, "-out", certificate]);
    expect(await kubectl.ok(["create", "secret", "tls", "web", "--cert", certificate, "--key", key])).toBe(
      "secret/web created\n",
    );
    expect(rowsOf(await kubectl.ok("get secrets pull web"))).toEqual([
      "NAME | TYPE | DATA | AGE",
      "pull | kubernetes.io/dockerconfigjson | 1 | AGE",
      "web | kubernetes.io/tls | 2 | AGE",
    ]);
  });

  it("makes a quota, and takes it away", async () => {
    const made = await kubectl.ok("create quota small --hard=count/replicationcontrollers=9");
    expect(made).toBe("resourcequota/small created\n");
    expect(await kubectl.ok("delete quota small")).toContain('resourcequota "small" deleted');
  });

  it("runs a pod and exposes it", async () => {
    expect(await kubectl.ok("run web --image=registry.example/web --labels=app=web --port=80")).toBe(
      "pod/web created\n",
    );
    expect(await kubectl.fails("run web --image=registry.example/web")).toBe(
      'Error from server (AlreadyExists): pods "web" already exists\n',
    );
    expect(await kubectl.json("get pod web")).toMatchObject({
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          { name: "web", image: "registry.example/web", imagePullPolicy: "Always", ports: [{ containerPort: 80 }] },
        ],
        priority: 0,
        serviceAccountName: "default",
        tolerations: [{ key: "node.kubernetes.io/not-ready" }, { key: "node.kubernetes.io/unreachable" }],
      },
    });
    expect(await kubectl.ok("expose pod web --name=www --port=8080 --target-port=80")).toBe("service/www exposed\n");
    expect(await kubectl.json("get service www")).toMatchObject({
      spec: { selector: { app: "web" }, ports: [{ port: 8080, targetPort: 80, protocol: "TCP" }], type: "ClusterIP" },
    });
    const dry = "run not-made --image=registry.example/web --restart=Never --dry-run=server -o yaml -- sleep 1";
    expect(await kubectl.ok(dry)).toMatch(/^apiVersion: v1\nkind: Pod\n[\s\S]*restartPolicy: Never\n/);
    expect(await kubectl.fails("get pod not-made")).toContain("NotFound");
  });

  it("says of a pod that is on no node that it has no logs, and nothing to exec or attach", async () => {
    const nowhere = /pod web does not have a host assigned/;
    expect(await kubectl.ok("logs web")).toBe("");
    expect(await kubectl.fails("exec web -- ls")).toMatch(nowhere);
    expect(await kubectl.fails("attach web")).toMatch(nowhere);
  });
});
