/**
 * The main file of the single executable. It brings the program's files to a directory and runs them there, because native
 * modules can be loaded from files only. The build makes one file of it.
 */
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { getRawAsset } from "node:sea";
import { messageOf } from "../../base/errors.ts";
import { RUN_TIME_ENVIRONMENT } from "../../cluster/processes/run-time.ts";
import { computeProgramDirectory } from "./program-directory.ts";
import { unpackProgram } from "./unpack-program.ts";

/** The commands that run for months, for which the environment of a process matters. */
const LASTING = ["up", "kubelet", "control-plane", "proxy", "dns"];

const [, program = "", command = ""] = process.argv;
const isLasting = LASTING.includes(command) || basename(program) === "kubelet";
if (isLasting && Object.keys(RUN_TIME_ENVIRONMENT).some((name) => process.env[name] === undefined)) {
  // The C library has read its part of the environment by now, so that this process begins anew, as the same one.
  process.execve?.(process.execPath, process.argv.slice(1), { ...RUN_TIME_ENVIRONMENT, ...process.env });
}
try {
  const { id, paths }: { id: string; paths: string[] } = JSON.parse(readCarried("files.json").toString("utf8"));
  const base = computeProgramDirectory(process.geteuid?.() ?? 0, process.env);
  const directory = unpackProgram(base, { id, paths, read: readCarried }, Date.now());
  // A file that was required can import modules; what an executable carries itself cannot.
  createRequire(join(directory, "start.cjs"))("./start.cjs");
} catch (error) {
  console.error(`nodelet: ${messageOf(error)}`);
  process.exitCode = 1;
}

function readCarried(path: string): Buffer {
  const content = getRawAsset(path);
  return typeof content === "string" ? Buffer.from(content) : Buffer.from(content);
}
