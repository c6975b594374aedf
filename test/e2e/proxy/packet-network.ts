import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { linuxPrograms } from "../../../src/host/linux/system/linux-programs.ts";
import type { Programs } from "../../../src/host/programs-port.ts";
import { runName } from "../../machine/run-directory.ts";

const run = promisify(execFile);

/** Network namespaces that stand for a node, its pods on a bridge, and a client outside. Needs root. */
export interface PacketNetwork {
  /** Programs that run in the node's namespace. */
  readonly nodePrograms: Pick<Programs, "run">;
  /**
   * Calls from a namespace, and returns what the server says of itself and its caller; else the code of the failure, or
   * `no answer` after the limit.
   */
  call(from: Place, to: Called, limitMs?: number): Promise<string>;
  /** The address that a place has on the link of the pods without anybody having given it one. */
  linkLocal(of: "node" | "pod1" | "pod2"): Promise<string>;
  /** Tells all on the pods' link that the place is a router which knows the prefix, `2001:db8::`. */
  advertise(from: "node" | "pod2", prefix: string): Promise<void>;
  /** The networks that pod1 has heard of by such advertisements. */
  heardOf(): Promise<string>;
  /** Runs a program in the node's namespace and returns what it prints. */
  onNode(program: string, ...args: string[]): Promise<string>;
  destroy(): Promise<void>;
}

/** What is called. `many` is UDP to an address of several, which any of them but the caller answers. */
interface Called {
  protocol: "tcp" | "udp" | "many";
  address: string;
  port: number;
}

/** A machine under load takes its time, so that silence is believed late. */
const ANSWER_LIMIT_MS = 30_000;

type Place = "node" | "client" | "pod1" | "pod2";

/** The addresses: pods are behind the node, the client is beside it. */
export const ADDRESSES = {
  node: "192.168.77.1",
  client: "192.168.77.2",
  pod1: "10.77.0.11",
  pod2: "10.77.0.12",
  pod1v6: "fd77::11",
  pod2v6: "fd77::12",
} as const;

/** The bridge of the pods. */
export const POD_BRIDGE = "pods0";

/** Both pods serve TCP and UDP on this port. */
export const POD_PORT = 8080;

const SERVER = `
const [name, port] = process.argv.slice(1);
const net = require("node:net"), dgram = require("node:dgram");
const plain = (address) => address.replace("::ffff:", "");
const tcp = net.createServer((socket) => socket.on("error", () => {}).end(name + " " + plain(socket.remoteAddress ?? "")));
const udp = dgram.createSocket({ type: "udp6", ipv6Only: false });
udp.on("message", (_, from) => udp.send(name + " " + plain(from.address), from.port, from.address));
tcp.listen(Number(port), "::", () => udp.bind(Number(port), "::", () => console.log("ready")));
`;

const CLIENT = `
const [protocol, address, port, limitMs, from] = process.argv.slice(1);
const end = (text) => { console.log(text); process.exit(0); };
setTimeout(() => end("no answer"), Number(limitMs));
if (protocol === "tcp") {
  const socket = require("node:net").connect({ host: address, port: Number(port) });
  let text = "";
  socket.on("data", (data) => { text += data; }).on("error", (error) => end(error.code)).on("end", () => end(text));
} else {
  const socket = require("node:dgram").createSocket(address.includes(":") ? "udp6" : "udp4");
  socket.on("error", (error) => end(error.code)).on("message", (data) => {
    if (!String(data).startsWith(from)) end(String(data));
  });
  if (protocol === "udp") socket.connect(Number(port), address, () => socket.send("?"));
  else socket.bind(() => { socket.setBroadcast(true); socket.send("?", Number(port), address); });
}
`;

/** Node.js has no raw sockets. The router itself has no lifetime, so that its prefix is all that is believed. */
const ADVERTISE = `
my ($device, $prefix) = @ARGV;
open(my $file, "<", "/sys/class/net/$device/ifindex") or die; my $index = int(<$file>);
socket(my $socket, AF_INET6, SOCK_RAW, 58) or die; setsockopt($socket, 41, 18, pack("i", 255)) or die;
my $information = pack("CCCCNNN", 3, 4, 64, 0xc0, 86400, 14400, 0) . inet_pton(AF_INET6, $prefix);
my $message = pack("CCnCCnNN", 134, 0, 0, 64, 0, 0, 0, 0) . $information;
send($socket, $message, 0, pack_sockaddr_in6(0, inet_pton(AF_INET6, "ff02::1"), $index)) or die;
`;

/** Makes the namespaces. Their names tell the run, and `name` tells them from others of this run. */
export async function createPacketNetwork(name: string): Promise<PacketNetwork> {
  const namespaceOf = (place: Place) => `${runName()}-${name}-${place}`;
  const places: readonly Place[] = ["node", "client", "pod1", "pod2"];
  const servers: ChildProcess[] = [];
  const within = (place: Place, program: string, ...args: string[]) =>
    ["netns", "exec", namespaceOf(place), program, ...args] as const;
  const enter = async (place: Place, program: string, ...args: string[]) =>
    (await run("ip", within(place, program, ...args))).stdout;
  const destroy = async () => {
    for (const server of servers) server.kill("SIGKILL");
    for (const place of places) await run("ip", ["netns", "delete", namespaceOf(place)]).catch(() => undefined);
  };
  try {
    for (const place of places) {
      await run("ip", ["netns", "add", namespaceOf(place)]);
      await enter(place, "ip", "link", "set", "lo", "up");
    }
    await joinNamespaces(namespaceOf, enter);
    for (const pod of ["pod1", "pod2"] as const) {
      const server = spawn("ip", within(pod, process.execPath, "-e", SERVER, pod, `${POD_PORT}`), {
        stdio: ["ignore", "pipe", "inherit"],
      });
      servers.push(server);
      await once(server.stdout, "data");
    }
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    nodePrograms: {
      run: async (asked, signal) => {
        const args = [...within("node", asked.path, ...asked.args)];
        return await linuxPrograms.run({ ...asked, path: "ip", args }, signal);
      },
    },
    call: async (from, { protocol, address, port }, limitMs = ANSWER_LIMIT_MS) =>
      (await enter(from, process.execPath, "-e", CLIENT, protocol, address, `${port}`, `${limitMs}`, from)).trim(),
    advertise: async (from, prefix) => {
      const device = from === "node" ? POD_BRIDGE : "eth0";
      await enter(from, "perl", "-MSocket=:DEFAULT,inet_pton,pack_sockaddr_in6", "-e", ADVERTISE, device, prefix);
    },
    heardOf: async () => await enter("pod1", "ip", "-6", "route", "show"),
    linkLocal: async (of) => {
      const listed = await enter(of, "ip", "-6", "address", "show", "dev", of === "node" ? POD_BRIDGE : "eth0");
      return `${/fe80::[0-9a-f:]*/.exec(listed)?.[0] ?? "none"}%eth0`;
    },
    onNode: async (program, ...args) => await enter("node", program, ...args),
    destroy,
  };
}

type Enter = (place: Place, program: string, ...args: string[]) => Promise<string>;

async function joinNamespaces(namespaceOf: (place: Place) => string, enter: Enter): Promise<void> {
  const node = namespaceOf("node");
  await enter("node", "ip", "link", "add", POD_BRIDGE, "type", "bridge");
  await enter("node", "ip", "address", "add", "10.77.0.1/24", "dev", POD_BRIDGE);
  await enter("node", "ip", "address", "add", "fd77::1/64", "dev", POD_BRIDGE, "nodad");
  await enter("node", "ip", "link", "set", POD_BRIDGE, "up");
  await enter("node", "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1");
  for (const [place, ipv4, ipv6] of [
    ["pod1", ADDRESSES.pod1, ADDRESSES.pod1v6],
    ["pod2", ADDRESSES.pod2, ADDRESSES.pod2v6],
  ] as const) {
    await enter(place, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", place, "netns", node);
    await enter("node", "ip", "link", "set", place, "master", POD_BRIDGE, "up");
    await enter("node", "bridge", "link", "set", "dev", place, "hairpin", "on");
    await enter(place, "ip", "address", "add", `${ipv4}/24`, "dev", "eth0");
    await enter(place, "ip", "address", "add", `${ipv6}/64`, "dev", "eth0", "nodad");
    await enter(place, "ip", "link", "set", "eth0", "up");
    await enter(place, "ip", "route", "add", "default", "via", "10.77.0.1");
    await enter(place, "ip", "-6", "route", "add", "default", "via", "fd77::1");
  }
  await enter("client", "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", node);
  for (const place of ["node", "client"] as const) {
    await enter(place, "ip", "address", "add", `${ADDRESSES[place]}/24`, "dev", "eth0");
    await enter(place, "ip", "link", "set", "eth0", "up");
  }
  await enter("client", "ip", "route", "add", "default", "via", ADDRESSES.node);
  await enter("node", "ip", "route", "add", "default", "via", ADDRESSES.client);
}
