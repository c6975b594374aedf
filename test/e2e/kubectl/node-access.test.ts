import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { RUN_FOR_EVER, shellPod } from "../pods.ts";
import { createKubectl, type Kubectl } from "./kubectl.ts";
import { findKubectls } from "./kubectl-binaries.ts";

/** SPDY is what the oldest speaks, and WebSockets the newest. */
const binaries = [...new Set([findKubectls()[0], findKubectls().at(-1)])].flatMap((binary) => binary ?? []);

/** Answers on port 80 with what lies in /tmp. */
const SERVE = `mkdir -p /tmp/sub; echo served > /tmp/page; echo inner > /tmp/sub/page; httpd -p 80 -h /tmp; ${RUN_FOR_EVER}`;
/** Says what it reads. */
const TALK = "while read line; do echo heard $line; done; exit 0";
/** Ends once, and then runs. */
const AGAIN = `if [ -e /keep/ended ]; then echo second; ${RUN_FOR_EVER}; fi; touch /keep/ended; echo first; exit 3`;

/** What a node told holds for fifteen seconds, and so does that it did not answer. */
const METRICS_POLL = { timeout: 60_000, interval: 500 };
const METRICS_TEST = { timeout: 150_000 };

describe("kubectl with what runs on a node", () => {
  let cluster: TestCluster;
  let home: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "nodelet-access-"));
    cluster = await startCluster({ node: true });
    const [newest] = findKubectls();
    const kubectl = kubectlOf(newest ?? binaries[0] ?? { path: "kubectl", minor: 0 });
    const keep = { volumes: [{ name: "keep", emptyDir: {} }] };
    const two = {
      name: "side",
      image: "localhost/nodelet/demo:1",
      command: ["sh", "-c", `echo beside; ${RUN_FOR_EVER}`],
    };
    const pods = [
      shellPod("web", `echo up; ${SERVE}`, {}, { ports: [{ containerPort: 80 }] }),
      shellPod("talk", TALK, {}, { stdin: true }),
      shellPod("again", AGAIN, keep, { volumeMounts: [{ name: "keep", mountPath: "/keep" }] }),
      pair(shellPod("pair", `echo main; ${RUN_FOR_EVER}`), two),
    ];
    await kubectl.ok("create -f -", { input: { apiVersion: "v1", kind: "List", items: pods } });
    await kubectl.ok("wait --for=condition=Ready pod/web pod/talk pod/pair --timeout=25s");
    await kubectl.ok([
      "wait",
      "--for=jsonpath={.status.containerStatuses[0].restartCount}=1",
      "pod/again",
      "--timeout=28s",
    ]);
    await kubectl.ok("wait --for=condition=Ready pod/again --timeout=25s");
  });
  afterAll(async () => {
    await cluster?.stop();
    await rm(home, { recursive: true, force: true });
  });

  const kubectlOf = (binary: (typeof binaries)[number]): Kubectl => {
    return createKubectl({ binary, home, kubeconfig: cluster.kubeconfigPath });
  };

  describe.each(binaries)("1.$minor", (binary) => {
    let kubectl: Kubectl;
    beforeAll(() => {
      kubectl = kubectlOf(binary);
    });

    it("reads logs, of one container, of all, and of the one before", async () => {
      expect(await kubectl.ok("logs web")).toBe("up\n");
      expect(await kubectl.ok("logs pair -c side")).toBe("beside\n");
      const all = await kubectl.ok("logs pair --all-containers --prefix");
      expect(all.split("\n").toSorted()).toEqual(["", "[pod/pair/main] main", "[pod/pair/side] beside"]);
      expect(await kubectl.ok("logs again --previous")).toBe("first\n");
      expect(await kubectl.ok("logs again --tail=1")).toBe("second\n");
      expect(await kubectl.ok("logs web --limit-bytes=1")).toBe("u");
      expect(await kubectl.ok("logs web --timestamps")).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z up\n$/);
    });

    it("tells what the node and its pods use", METRICS_TEST, async () => {
      const pods = async () => (await kubectl.run("top pods --containers --no-headers")).stdout;
      await expect.poll(pods, METRICS_POLL).toMatch(/^pair +main +\d+m +\d+Mi *\npair +side +\d+m +\d+Mi *$/m);
      const node = async () => (await kubectl.run("top nodes --no-headers")).stdout;
      await expect.poll(node, METRICS_POLL).toMatch(/^test-node +\d+m +\d+% +[1-9]\d*Mi +\d+% *$/m);
    });

    it("says which log there is not", async () => {
      expect(await kubectl.fails("logs web --previous")).toMatch(
        /previous terminated container "main" in pod "web" not found/,
      );
      expect(await kubectl.fails("logs web -c other")).toContain("container other is not valid for pod web");
    });

    it("follows a log until the container ends", async () => {
      const name = `short-${binary.minor}`;
      const script = "echo one; read line; echo two $line";
      const spec = { restartPolicy: "Never" };
      await kubectl.ok("create -f -", { input: shellPod(name, script, spec, { stdin: true, stdinOnce: true }) });
      await kubectl.ok(`wait --for=condition=Ready pod/${name} --timeout=25s`);
      const following = kubectl.start(`logs -f ${name}`);
      expect(await following.prints("one\n")).toBe("one\n");
      await kubectl.ok(`attach -i -q ${name}`, { input: "more\n" });
      expect(await following.prints("two more\n")).toBe("one\ntwo more\n");
      await following.ended();
    });

    it("runs commands, and ends as they end", async () => {
      const ran = await kubectl.run(["exec", "web", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]);
      expect(ran).toMatchObject({ code: 7, stdout: "out\n" });
      expect(ran.stderr).toContain("err\n");
      expect(await kubectl.ok("exec -i web -- cat", { input: "to and fro" })).toBe("to and fro");
      expect(await kubectl.ok("exec pair -c side -- hostname")).toBe("pair\n");
      expect(await kubectl.ok(["exec", "-q", "pair", "--", "sh", "-c", "echo $0", "a b"])).toBe("a b\n");
    });

    it("carries much in both directions", async () => {
      const input = "0123456789abcdef".repeat(128 * 1024);
      const echoed = await kubectl.ok("exec -i web -- cat", { input });
      expect(echoed.length).toBe(input.length);
      expect(echoed === input).toBe(true);
    });

    it("says why a command does not run", async () => {
      const absent = await kubectl.run("exec web -- /no/such/program");
      expect(absent.code).not.toBe(0);
      expect(absent.stderr).toMatch(/no such file or directory/);
    });

    it("attaches", async () => {
      // Its input stays open: where that ends, the runtime ends the rest with it.
      const attached = kubectl.start("attach -i -q talk");
      attached.write(`of ${binary.minor}\n`);
      expect(await attached.prints("heard")).toContain(`heard of ${binary.minor}\n`);
      await attached.stop();
    });

    it("copies files there and back", async () => {
      const folder = join(home, `copied-${binary.minor}`);
      await mkdir(join(folder, "deep"), { recursive: true });
      await writeFile(join(folder, "deep", "file"), Buffer.alloc(300_000, "z"));
      await kubectl.ok(`cp ${folder} web:/tmp/there-${binary.minor}`);
      await kubectl.ok(`cp web:/tmp/there-${binary.minor} ${folder}-back`);
      expect((await readFile(join(`${folder}-back`, "deep", "file"))).length).toBe(300_000);
    });

    it("forwards ports", async () => {
      const forwarding = kubectl.start("port-forward pod/web :80");
      try {
        const port = /127\.0\.0\.1:(\d+) -> 80/.exec(await forwarding.prints("-> 80"))?.[1];
        const answers = await Promise.all(
          ["page", "sub/page"].map(async (path) => await (await fetch(`http://127.0.0.1:${port}/${path}`)).text()),
        );
        expect(answers).toEqual(["served\n", "inner\n"]);
      } finally {
        await forwarding.stop();
      }
    });
  });

  it("scales a deployment by what its pods use", METRICS_TEST, async () => {
    const [binary] = binaries;
    if (binary === undefined) throw new Error("no kubectl");
    const kubectl = kubectlOf(binary);
    const { spec: template } = Object(shellPod("scaled", RUN_FOR_EVER));
    const labels = { app: "scaled" };
    // Any pod uses more than this.
    const target = { type: "AverageValue", averageValue: "1k" };
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "scaled" };
    const metrics = [{ type: "Resource", resource: { name: "memory", target } }];
    const items = [
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "scaled" },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: template } },
      },
      {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "scaled" },
        spec: { scaleTargetRef, maxReplicas: 2, metrics },
      },
    ];
    await kubectl.ok("create -f -", { input: { apiVersion: "v1", kind: "List", items } });
    await kubectl.ok("wait --for=jsonpath={.status.readyReplicas}=2 deployment/scaled --timeout=120s");
    expect(await kubectl.ok("get hpa scaled -o jsonpath={.status.desiredReplicas}")).toBe("2");
    await kubectl.ok("delete deployment/scaled hpa/scaled --wait=false");
  });

  it("reaches the node's API and the pods through the API server", async () => {
    const [binary] = binaries;
    if (binary === undefined) throw new Error("no kubectl");
    const kubectl = kubectlOf(binary);
    const { node } = cluster;
    if (!node.running) throw new Error(node.reason);
    expect(await kubectl.ok(`get --raw /api/v1/nodes/${node.name}/proxy/healthz`)).toBe("ok");
    const pods = await kubectl.ok(`get --raw /api/v1/nodes/${node.name}/proxy/pods`);
    expect(JSON.parse(pods).items.length).toBeGreaterThan(3);
    expect(await kubectl.ok("get --raw /api/v1/namespaces/default/pods/web/proxy/sub/page")).toBe("inner\n");
    expect(await kubectl.fails("get --raw /api/v1/namespaces/default/pods/web:81/proxy/")).toContain(
      "connect: connection refused",
    );
  });
});

function pair(pod: object, container: object): object {
  const { spec, ...rest }: { spec?: { containers?: object[] } } = pod;
  return { ...rest, spec: { ...spec, containers: [...(spec?.containers ?? []), container] } };
}
