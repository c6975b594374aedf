import { basename } from "node:path";
import { Command, Option } from "commander";
import { CodedError, codeOf, isNoSpace, messageOf } from "../base/errors.ts";
import { toPlainLines } from "../base/plain-text.ts";
import { computeStateLayout, DEFAULT_STATE_DIRECTORY } from "../cluster/supervisor/state-layout.ts";
import { KUBELET_VERSION } from "../config/kubelet-version.ts";
import { createLog } from "../host/log/create-log.ts";
import { isJournal, JOURNAL_PRIORITIES } from "../host/log/journal-stream.ts";
import { addressRanges } from "./address-ranges.ts";
import { addAuditFlags } from "./audit-flags.ts";
import { addAutoscalerFlags } from "./autoscaler-flags.ts";
import { addCompletion } from "./completion/completion-command.ts";
import { type ControlPlaneCommand, controlPlane } from "./control-plane.ts";
import type { DashboardCommand } from "./dashboard.ts";
import { addExplain } from "./explain/explain-command.ts";
import { absolutePath, domainName, ipAddress, ipv4Address, MAX_PORT, nodeName, wholeNumber } from "./flag-values.ts";
import { formatOutput, type OutputFormat } from "./format-output.ts";
import { addHistoryFlags } from "./history-flags.ts";
import type { ImagesCommand } from "./images.ts";
import { limitEnding } from "./kubelet/limit-ending.ts";
import { addLogOptions } from "./log-options.ts";
import { addNodeMonitorFlags } from "./node-monitor-flags.ts";
import { addNodePlace } from "./node-place.ts";
import { outputForPrograms, outputWithWide } from "./output-option.ts";
import { addProxy } from "./proxy/proxy-command.ts";
import type { DnsCommand } from "./serve-dns.ts";
import type { InstallOptions } from "./service.ts";
import { computeStateDirectory } from "./state-directory.ts";
import { addUp } from "./up/up-command.ts";
import { API_SETTINGS, CONTROL_SETTINGS } from "./up/up-settings.ts";
import { readVersion } from "./version.ts";

/** Runs one command and returns the exit code. `entry` is the file to start children of this program with. */
export async function main(argv: readonly string[], entry: string): Promise<number> {
  let exitCode = 0;
  const finish = async (code: Promise<number>) => {
    exitCode = await code;
  };
  const program = createProgram({ argv, entry, version: await readVersion() }, finish);
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    const priority = isJournal(process.stderr.fd, process.env) ? JOURNAL_PRIORITIES.error : "";
    console.error(`${priority}nodelet: ${toPlainLines(explain(error))}`);
    exitCode = 1;
  }
  // Whatever a command left open does not keep it from ending.
  limitEnding(exitCode, createLog({ format: "text", verbosity: 0 }), {
    setTimer: (delayMs, fire) => setTimeout(fire, delayMs).unref(),
    activeResources: () => process.getActiveResourcesInfo(),
    end: (code) => process.exit(code),
  });
  return exitCode;
}

/** How this program was started. */
interface Invocation {
  readonly argv: readonly string[];
  readonly entry: string;
  readonly version: string;
}

/** Makes the tree of all commands, which `--help` and the completion of shells tell. Commands hand their exit code to `finish`. */
export function createProgram({ argv, entry, version }: Invocation, finish: Finish): Command {
  const program = new Command("nodelet")
    .description("A Kubernetes node agent: runs pods from a directory of manifests through containerd")
    .version(version, "-V, --version")
    .enablePositionalOptions()
    .showHelpAfterError("(nodelet --help, nodelet <command> --help)")
    .addHelpText("after", "\nThe manual, with the exit codes: man nodelet");
  addUp(program, async (sources, apply) => {
    const up = await (await import("./node-commands.ts")).loadUp();
    await finish(up(sources, apply, { entry, argv }));
  });
  addDown(program, finish);
  addControlPlane(program, finish);
  addProxy(program, async (options) => {
    const runProxy = await (await import("./node-commands.ts")).loadProxy();
    await finish(runProxy(options));
  });
  addDns(program, finish);
  addStatus(program, finish);
  addExplain(program, stateDirectory, async (asked) => {
    const explainIt = await (await import("./node-commands.ts")).loadExplain();
    await finish(explainIt(asked, { asPlugin: isPlugin(process.argv) }));
  });
  addDashboard(program, finish);
  addDoctor(program, finish);
  addImages(program, finish);
  addService(program, entry, finish);
  program
    .command("kubelet")
    .description("run the node agent alone, with kubelet's own flags and configuration file")
    .helpOption(false)
    .allowUnknownOption();
  addCompletion(program);
  program
    .command("version")
    .description("print the version")
    .addOption(outputForPrograms())
    .action(({ output }: { output?: OutputFormat }) => {
      const told = { nodelet: version, kubernetes: KUBELET_VERSION, node: process.versions.node };
      const words = `nodelet ${version} (Node.js ${process.versions.node})`;
      console.log(output === undefined ? words : formatOutput(told, output));
    });
  return program;
}

type Finish = (code: Promise<number>) => Promise<void>;

/** Tells whether kubectl has started this program, as its plugin `kubectl-nodelet`. */
function isPlugin([, program = ""]: readonly string[]): boolean {
  return basename(program, ".js") === "kubectl-nodelet";
}

const stateDirectory = () => stateDirectoryWith(DEFAULT_STATE_DIRECTORY);

const stateDirectoryWith = (...preset: [directory: string, about?: string]) =>
  new Option("--state-dir <dir>", "where it keeps everything").default(...preset).argParser(absolutePath);

/** The default of a program that needs no root depends on who runs it, and the manual says so. */
const ownStateDirectory = () =>
  stateDirectoryWith(
    computeStateDirectory(process.geteuid?.() ?? 0, process.env),
    `${DEFAULT_STATE_DIRECTORY} for root, else nodelet in $XDG_STATE_HOME or ~/.local/state`,
  );

/** A setting that `up` has, too. */
function apiOption(name: keyof typeof API_SETTINGS): Option {
  const { flags, about, preset } = API_SETTINGS[name];
  return new Option(flags, about).default(preset);
}

function addControlPlane(program: Command, finish: Finish): void {
  const command = program
    .command("control-plane")
    .description("run the Kubernetes API alone, without a node; needs no root")
    .addOption(apiOption("address").argParser(ipAddress))
    .addOption(apiOption("port").argParser(wholeNumber(0, MAX_PORT)))
    .addOption(apiOption("services").argParser(addressRanges))
    .option(
      "--cluster-cidr <cidrs>",
      "give each node a range of these addresses for its pods (default: none)",
      addressRanges,
    )
    .option("--node-cidr-mask-size <bits>", "how large each node's range is (default: 24)", wholeNumber(1, 32))
    .option("--node-cidr-mask-size-ipv6 <bits>", "the same of IPv6 (default: 64)", wholeNumber(1, 128))
    .option(
      "--network-policies",
      "a nodelet proxy keeps to network policies: warn nobody that they are not kept",
      false,
    )
    .option("--cluster-dns <ip>", "with --dns-server: make the service kube-dns at this address", ipv4Address)
    .option(
      "--dns-server <ip>",
      "where nodelet dns listens; also write dns.kubeconfig, with which it reads",
      ipv4Address,
    )
    .option("--node-name <name>", "also write node.kubeconfig, with which a node agent of this name joins", nodeName)
    .option("--node-api-address <address>", "where that node serves its API (default: the address that it tells)")
    .addOption(
      new Option("--pod-address <ip>", "also serve the API at this address, and send pods there").argParser(ipAddress),
    )
    .option(
      "--local-volumes <dir>",
      "with --node-name, on that node's machine: have a default storage class of directories here; needs root",
      absolutePath,
    )
    .option(
      "--manifests <dir>",
      "apply the manifests of this directory, and delete what is deleted from it (default: none)",
      absolutePath,
    )
    .option("--refuse-foreign-manifests", "take none that others than root may change", false)
    .option(CONTROL_SETTINGS.scheduler.flags, CONTROL_SETTINGS.scheduler.about)
    .option(CONTROL_SETTINGS.controllers.flags, CONTROL_SETTINGS.controllers.about)
    .addOption(ownStateDirectory());
  addAuditFlags(command);
  addHistoryFlags(command);
  addAutoscalerFlags(command);
  addNodeMonitorFlags(command);
  addLogOptions(command);
  command.action(async () => await finish(controlPlane(command.opts<ControlPlaneCommand>())));
}

function addDns(program: Command, finish: Finish): void {
  const port = wholeNumber(0, MAX_PORT);
  const command = program
    .command("dns")
    .description("serve the names of a cluster's services and pods, as CoreDNS does")
    .requiredOption("--kubeconfig <file>", "how to reach the Kubernetes API", absolutePath)
    .option("--address <ip>", "listen on this address of the machine", ipAddress, "127.0.0.1")
    .option("--port <port>", "port of DNS, over UDP and TCP", port, 53)
    .option("--cluster-domain <domain>", "domain of the cluster", domainName, "cluster.local")
    .option("--resolv-conf <file>", "ask its name servers for all other names", absolutePath, "/etc/resolv.conf")
    .option("--metrics-port <port>", "port of /metrics, 0 for none", port, 9_153)
    .option("--health-port <port>", "port of /health, 0 for none", port, 8_080)
    .option("--ready-port <port>", "port of /ready, 0 for none", port, 8_181);
  addLogOptions(command).action(async (options: DnsCommand) => {
    const { serveDns } = await import("./serve-dns.ts");
    await finish(serveDns(options));
  });
}

function addDown(program: Command, finish: Finish): void {
  const command = program
    .command("down")
    .description("stop the node; its pods run on")
    .option("--pods", "stop and remove the pods first, and what they left on the machine", false)
    .option("--now", "with --pods: do not wait for them to end", false);
  const place = addNodePlace(command, stateDirectory());
  command.action(async (options: { pods: boolean; now: boolean }) => {
    const down = await (await import("./node-commands.ts")).loadDown();
    await finish(down(computeStateLayout(await place()), options));
  });
}

function addStatus(program: Command, finish: Finish): void {
  const command = program
    .command("status")
    .description("show the node, its conditions and its pods")
    .addOption(outputWithWide());
  const place = addNodePlace(command, stateDirectory());
  command.action(async (options: { output?: "wide" | OutputFormat }) => {
    const status = await (await import("./node-commands.ts")).loadStatus();
    await finish(status(computeStateLayout(await place()), options.output));
  });
}

function addDashboard(program: Command, finish: Finish): void {
  const command = program
    .command("dashboard")
    .description("serve a page about the cluster on this machine, with your rights, until it is stopped")
    .option(
      "--kubeconfig <file>",
      "show this cluster (default: $KUBECONFIG, nodelet up on this machine, ~/.kube/config)",
      absolutePath,
    )
    .option("--port <port>", "port of 127.0.0.1 to listen at, 0 for any free one", wholeNumber(0, MAX_PORT), 0);
  const place = addNodePlace(command, stateDirectory());
  addLogOptions(command).action(async (options: DashboardCommand) => {
    const dashboard = await (await import("./node-commands.ts")).loadDashboard();
    await finish(dashboard({ ...options, stateDir: await place() }));
  });
}

function addDoctor(program: Command, finish: Finish): void {
  const command = program
    .command("doctor")
    .description("tell what this machine lacks for running pods, and how to mend it")
    .addOption(outputForPrograms());
  const place = addNodePlace(command, stateDirectory());
  command.action(async (options: { output?: OutputFormat }) => {
    const doctor = await (await import("./node-commands.ts")).loadDoctor();
    await finish(doctor(await place(), options.output));
  });
}

function addService(program: Command, entry: string, finish: Finish): void {
  const load = async () => await (await import("./node-commands.ts")).loadService();
  program
    .command("install")
    .description("run nodelet as a service of systemd, from now on and after each start of the machine")
    .argument("[command...]", "what the service runs, with its arguments: up, or kubelet (default: up)")
    .option("--as-kubelet", "be this machine's program and service kubelet instead, as kubeadm uses them", false)
    .option(
      "--replace",
      "with --as-kubelet: take the place of the kubelet that is there, until nodelet uninstall",
      false,
    )
    .passThroughOptions()
    .allowUnknownOption()
    .action(
      async (words: string[], options: InstallOptions) => await finish((await load()).install(words, options, entry)),
    );
  program
    .command("uninstall")
    .description("stop the service of nodelet and remove it, and give the kubelet of before its place; pods run on")
    .action(async () => await finish((await load()).uninstall()));
}

function addImages(program: Command, finish: Finish): void {
  const group = program.command("images").description("list, load and remove the images of the node");
  const add = <Options>(usage: string, about: string, read: (names: string[], options: Options) => ImagesCommand) => {
    const command = group.command(usage).description(about);
    const place = addNodePlace(command.addOption(outputForPrograms()), stateDirectory());
    const takesNames = usage.includes("<");
    command.action(async (...received: [string[], unknown]) => {
      const options = command.opts<Options & { output?: OutputFormat }>();
      const run = await (await import("./node-commands.ts")).loadImages();
      const asked = read(takesNames ? received[0] : [], options);
      await finish(run(computeStateLayout(await place()), asked, options.output));
    });
    return command;
  };
  add("ls", "list the images", () => ({ verb: "ls" }));
  const load = "load archives of images: docker's or OCI's, compressed or not; - is standard input";
  add<{ quiet: boolean }>("load <file...>", load, (files, { quiet }) => ({ verb: "load", files, quiet })).option(
    "-q, --quiet",
    "print the names of images and what failed, and no progress",
    false,
  );
  add<{ force: boolean }>("rm <image...>", "remove images, each with all of its names", (images, { force }) => ({
    verb: "rm",
    images,
    force,
  })).option("--force", "remove those that containers use, too", false);
  add("prune", "remove the images that no container uses; those of nodelet itself stay", () => ({ verb: "prune" }));
}

/**
 * Explains an error. A coded error is meant for the user; any other error is a fault of this program, and its stack
 * says where.
 */
function explain(error: unknown): string {
  const code = codeOf(error);
  if (code === "EACCES" || code === "EPERM") return `${messageOf(error)}\nRun it as root.`;
  if (isNoSpace(error)) return `${messageOf(error)}\nMake room on that disk, and start it again.`;
  if (error instanceof CodedError || error instanceof AggregateError || code !== undefined) return messageOf(error);
  return error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
}
