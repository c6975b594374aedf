import { decode } from "dns-packet";
import { describe, expect, it, vi } from "vitest";
import type { DnsPeer, DnsTransport } from "../host/dns-port.ts";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { answerWith, questionFor } from "./__fixtures__/messages.ts";
import { createDnsHandler } from "./answer-query.ts";
import { createServiceDirectory } from "./zone/service-directory.ts";

const peerOf = (transport: DnsTransport): DnsPeer => ({
  transport,
  family: "ipv4",
  address: "192.0.2.200",
  signal: new AbortController().signal,
});
const added = <T>(object: T) => [{ type: "ADDED", object, previous: undefined } as const];

function createRig({ isReady = true, maxForwards = 100 } = {}) {
  const names = createServiceDirectory();
  const external = (name: string, externalName: string) =>
    names.changeServices(
      added({ metadata: { name, namespace: "default" }, spec: { type: "ExternalName", externalName } }),
    );
  names.changeNamespaces(added({ metadata: { name: "default" } }));
  names.changeServices(added({ metadata: { name: "web", namespace: "default" }, spec: { clusterIP: "10.3.0.1" } }));
  names.changeServices(added({ metadata: { name: "many", namespace: "default" }, spec: { clusterIP: "None" } }));
  external("out", "www.example.com");
  external("near", "web.default.svc.cluster.local");
  external("circle", "circle.default.svc.cluster.local");
  names.changeSlices(
    added({
      metadata: { name: "many-1", namespace: "default", labels: { "kubernetes.io/service-name": "many" } },
      addressType: "IPv4",
      endpoints: Array.from({ length: 200 }, (_, index) => ({ addresses: [`10.64.0.${index}`] })),
    }),
  );
  const counted: string[] = [];
  let forwards = 0;
  const handle = createDnsHandler({
    zone: { domain: "cluster.local", names, serverAddress: "10.3.0.10", serial: () => 7 },
    forwarder: {
      recall: () => undefined,
      async ask(query) {
        if (++forwards > maxForwards) return { kind: "refused" };
        const message = answerWith(questionFor(query.name ?? "", { id: query.id }), { addresses: ["192.0.2.80"] });
        return { kind: "answer", message };
      },
    },
    loops: { meets: (name) => name === "1.2" },
    metrics: { answered: ({ zone, type, code }) => void counted.push(`${zone} ${type} ${code}`) },
    clock: createFakeClock(),
    isReady: () => isReady,
  });
  const send = async (message: Buffer, transport: DnsTransport = "udp") => await handle(message, peerOf(transport));
  const ask = async (message: Buffer, transport: DnsTransport = "udp") => {
    const answer = await send(message, transport);
    return answer && { bytes: answer.length, code: (answer[3] ?? 0) & 0xf, ...decode(answer) };
  };
  return { ask, send, counted, names };
}

describe("answers", () => {
  it("repeat the question as it was asked, and are authoritative for the cluster's names", async () => {
    const { ask, counted } = createRig();
    const answer = await ask(questionFor("Web.default.SVC.cluster.local", { id: 9 }));
    expect(answer).toMatchObject({ id: 9, code: 0, flag_qr: true, flag_aa: true, flag_rd: true, flag_ra: true });
    expect(answer?.questions).toMatchObject([{ name: "Web.default.SVC.cluster.local" }]);
    expect(answer?.answers).toMatchObject([{ type: "A", ttl: 5, data: "10.3.0.1" }]);
    expect(counted).toEqual(["cluster.local. A NOERROR"]);
  });

  it("are counted each, and follow the names when the same is asked again", async () => {
    const { ask, counted, names } = createRig();
    const find = vi.spyOn(names, "find");
    const first = await ask(questionFor("web.default.svc.cluster.local", { id: 9 }));
    expect(await ask(questionFor("web.default.svc.cluster.local", { id: 10 }))).toEqual({ ...first, id: 10 });
    expect(counted).toEqual(["cluster.local. A NOERROR", "cluster.local. A NOERROR"]);
    expect(find).toHaveBeenCalledTimes(1);
    names.changeServices(added({ metadata: { name: "web", namespace: "default" }, spec: { clusterIP: "10.3.0.2" } }));
    const later = await ask(questionFor("web.default.svc.cluster.local", { id: 11 }));
    expect(later?.answers).toMatchObject([{ data: "10.3.0.2" }]);
  });

  it("carry the start of authority where there is nothing", async () => {
    const { ask } = createRig();
    expect(await ask(questionFor("absent.default.svc.cluster.local"))).toMatchObject({
      code: 3,
      authorities: [{ type: "SOA", name: "cluster.local", ttl: 5 }],
    });
    const empty = await ask(questionFor("web.default.svc.cluster.local", { type: "AAAA" }));
    expect(empty).toMatchObject({ code: 0, answers: [], authorities: [{ type: "SOA" }] });
  });

  it("follow external names within the cluster and beyond it, and no circle", async () => {
    const { ask } = createRig();
    expect((await ask(questionFor("out.default.svc.cluster.local")))?.answers).toMatchObject([
      { type: "CNAME", data: "www.example.com" },
      { type: "A", name: "www.example.com", data: "192.0.2.80" },
    ]);
    expect((await ask(questionFor("near.default.svc.cluster.local")))?.answers).toMatchObject([
      { type: "CNAME" },
      { type: "A", data: "10.3.0.1" },
    ]);
    expect(await ask(questionFor("circle.default.svc.cluster.local"))).toMatchObject({ code: 2 });
  });

  it("that are too long for UDP are cut and say so; over TCP they are whole", async () => {
    const { ask } = createRig();
    const plain = await ask(questionFor("many.default.svc.cluster.local"));
    expect(plain).toMatchObject({ flag_tc: true });
    expect(plain?.bytes).toSatisfy((bytes: number) => bytes <= 512 && bytes > 480);
    const modern = await ask(questionFor("many.default.svc.cluster.local", { edns: true }));
    expect(modern?.bytes).toSatisfy((bytes: number) => bytes <= 1_232 && bytes > 1_200);
    const whole = await ask(questionFor("many.default.svc.cluster.local"), "tcp");
    expect(whole).toMatchObject({ flag_tc: false });
    expect(whole?.answers).toHaveLength(200);
  });

  it("fail rather than deny while the cluster's names are not known", async () => {
    const { ask } = createRig({ isReady: false });
    expect(await ask(questionFor("web.default.svc.cluster.local"))).toMatchObject({ code: 2 });
    expect(await ask(questionFor("www.example.com"))).toMatchObject({ code: 0 });
  });
});

describe("what is not answered as asked", () => {
  it.each<[string, Buffer, number]>([
    ["a zone transfer", questionFor("cluster.local", { type: "AXFR" }), 5],
    ["an incremental zone transfer", questionFor("cluster.local", { type: "IXFR" }), 5],
    ["a question of our own that came back", questionFor("1.2"), 5],
    ["another class", chaos(questionFor("version.bind", { type: "TXT" })), 5],
    ["a notification", questionFor("cluster.local", { type: "SOA", flags: 4 << 11 }), 4],
    ["an update", questionFor("cluster.local", { type: "SOA", flags: 5 << 11 }), 4],
  ])("%s", async (_, message, code) => {
    expect(await createRig().ask(message)).toMatchObject({ code, answers: [] });
  });

  it("a question for everything gets next to nothing (RFC 8482)", async () => {
    const anything = Buffer.from(questionFor("many.default.svc.cluster.local", { type: "A" }));
    anything.writeUInt16BE(255, anything.length - 4);
    const answer = await createRig().ask(anything);
    expect(answer).toMatchObject({ code: 0, answers: [{ type: "HINFO", data: { cpu: "RFC8482", os: "" } }] });
  });

  it("a later version of EDNS is told so", async () => {
    const message = questionFor("web.default.svc.cluster.local", { edns: true });
    message.writeUInt8(1, message.length - 5);
    const answer = await createRig().ask(message);
    expect(answer).toMatchObject({ code: 0, answers: [], additionals: [{ type: "OPT", extendedRcode: 1 }] });
  });

  it("a flood is refused", async () => {
    expect(await createRig({ maxForwards: 0 }).ask(questionFor("www.example.com"))).toMatchObject({ code: 5 });
  });

  it.each<[string, Buffer]>([
    ["an answer", answerWith(questionFor("web.default.svc.cluster.local"), {})],
    ["too few bytes", Buffer.from([1, 2, 0])],
    ["nothing", Buffer.alloc(0)],
  ])("%s gets no answer", async (_, message) => {
    expect(await createRig().send(message)).toBeUndefined();
  });

  it.each<[string, Buffer]>([
    ["a head alone", questionFor("a").subarray(0, 12)],
    ["a name without an end", questionFor("web.default").subarray(0, 20)],
    ["a name that points", Buffer.concat([questionFor("a").subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])])],
    ["more records than bytes", withCount(questionFor("a"), 6, 65_535)],
    ["two questions", withCount(questionFor("a"), 4, 2)],
  ])("%s is malformed", async (_, message) => {
    expect(await createRig().ask(message)).toMatchObject({ id: 1, code: 1 });
  });
});

function chaos(message: Buffer): Buffer {
  message.writeUInt16BE(3, message.length - 2);
  return message;
}

function withCount(message: Buffer, at: number, count: number): Buffer {
  message.writeUInt16BE(count, at);
  return message;
}
