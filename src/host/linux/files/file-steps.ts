import * as fs from "node:fs";
import { promisify } from "node:util";
import { assertNever } from "../../../base/assert.ts";

/** One system call of a piece of work on files. What it answers is a descriptor, and 0 where there is none. */
export type FileStep =
  | { readonly call: "open"; readonly path: string; readonly flags: number; readonly mode?: number }
  | { readonly call: "mkdir"; readonly path: string; readonly mode: number }
  | { readonly call: "symlink"; readonly path: string; readonly target: string }
  | { readonly call: "write"; readonly fd: number; readonly data: Buffer }
  | { readonly call: "fchown"; readonly fd: number; readonly user: number; readonly group: number }
  | { readonly call: "fchmod"; readonly fd: number; readonly mode: number }
  | { readonly call: "close"; readonly fd: number };

/**
 * A piece of work, step by step, which does not know how its steps are taken. It is given what each step answered, or has
 * the step's error thrown at it.
 */
export type FileWork = Generator<FileStep, void, number>;

/** Takes the steps on threads of the pool, one after the other: a disk that is slow holds up nothing else. */
export async function takeFileSteps(work: FileWork): Promise<void> {
  let next = work.next(0);
  while (next.done !== true) {
    const [answer] = await Promise.allSettled([takeStep(next.value)]);
    next = answer.status === "fulfilled" ? work.next(answer.value) : work.throw(answer.reason);
  }
}

/** Takes the steps at once, without a thread; for file systems in memory only. */
export function takeFileStepsAtOnce(work: FileWork): void {
  let next = work.next(0);
  while (next.done !== true) {
    let answer: number;
    try {
      answer = takeStepAtOnce(next.value);
    } catch (error) {
      next = work.throw(error);
      continue;
    }
    next = work.next(answer);
  }
}

const open = promisify(fs.open);
const mkdir = promisify(fs.mkdir);
const symlink = promisify(fs.symlink);
const writeFile = promisify(fs.writeFile);
const fchown = promisify(fs.fchown);
const fchmod = promisify(fs.fchmod);
const close = promisify(fs.close);

async function takeStep(step: FileStep): Promise<number> {
  if (step.call === "open") return await open(step.path, step.flags, step.mode);
  if (step.call === "mkdir") await mkdir(step.path, step.mode);
  else if (step.call === "symlink") await symlink(step.target, step.path);
  else if (step.call === "write") await writeFile(step.fd, step.data);
  else if (step.call === "fchown") await fchown(step.fd, step.user, step.group);
  else if (step.call === "fchmod") await fchmod(step.fd, step.mode);
  else if (step.call === "close") await close(step.fd);
  else assertNever(step, "step");
  return 0;
}

function takeStepAtOnce(step: FileStep): number {
  if (step.call === "open") return fs.openSync(step.path, step.flags, step.mode);
  if (step.call === "mkdir") fs.mkdirSync(step.path, step.mode);
  else if (step.call === "symlink") fs.symlinkSync(step.target, step.path);
  else if (step.call === "write") fs.writeFileSync(step.fd, step.data);
  else if (step.call === "fchown") fs.fchownSync(step.fd, step.user, step.group);
  else if (step.call === "fchmod") fs.fchmodSync(step.fd, step.mode);
  else if (step.call === "close") fs.closeSync(step.fd);
  else assertNever(step, "step");
  return 0;
}
