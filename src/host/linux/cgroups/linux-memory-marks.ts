import { closeSync, openSync } from "node:fs";
// It has another name here, because the bundles begin with a `createRequire` of their own.
import { createRequire as requireFrom } from "node:module";
import { getSystemErrorName } from "node:util";
import { CodedError } from "../../../base/errors.ts";
import type { MemoryMark, MemoryMarks } from "../../memory-marks-port.ts";
import { followDescriptor } from "../system/follow-descriptor.ts";
import { writeKernelFile } from "./write-kernel-file.ts";

/** The calls of eventfd(2) and dup(2) that Node.js does not offer; they throw with the kernel's code. */
interface EventCalls {
  /** Returns the descriptor of a new counter. A read of it never waits. */
  create(): number;
  /** Makes `target` the same open file as `source`, in one step. What `target` was before is closed. */
  replace(source: number, target: number): void;
}

const EFD_CLOEXEC_NONBLOCK = 0o2004000;
const O_CLOEXEC = 0o2000000;

let loaded: EventCalls | undefined;

function loadEventCalls(): EventCalls {
  if (loaded !== undefined) return loaded;
  const koffi: typeof import("koffi") = requireFrom(import.meta.url)("koffi");
  const library = koffi.load(null);
  const eventfd = library.func("int eventfd(unsigned int initval, int flags)");
  const dup3 = library.func("int dup3(int oldfd, int newfd, int flags)");
  const check = (call: string, result: unknown): number => {
    const descriptor = Number(result);
    if (descriptor >= 0) return descriptor;
    const code = getSystemErrorName(-koffi.errno());
    throw new CodedError(code, `${code}: ${call}`);
  };
  loaded = {
    create: () => check("eventfd", eventfd(0, EFD_CLOEXEC_NONBLOCK)),
    replace: (source, target) => check("dup3", dup3(source, target, O_CLOEXEC)),
  };
  return loaded;
}

/**
 * Marks in the hierarchy of memory that is mounted at `hierarchy` (Documentation/admin-guide/cgroup-v1/memory.rst of the
 * kernel, 9). All marks share one counter. The kernel forgets a mark only when its counter is closed, so new marks get a
 * new counter, which takes the place of the one that the thread waits for. Throws where there can be no counter.
 */
export function openMemoryMarks(hierarchy: string): MemoryMarks {
  const calls = loadEventCalls();
  const followed = calls.create();

  const register = (counter: number, { path, bytes }: MemoryMark): void => {
    const directory = path === "/" ? hierarchy : `${hierarchy}${path}`;
    const usage = openSync(`${directory}/memory.usage_in_bytes`, "r");
    try {
      writeKernelFile(`${directory}/cgroup.event_control`, `${counter} ${usage} ${bytes}`, "w");
    } finally {
      closeSync(usage);
    }
  };

  return {
    set(marks) {
      const counter = calls.create();
      try {
        for (const mark of marks) register(counter, mark);
        calls.replace(counter, followed);
      } finally {
        closeSync(counter);
      }
    },
    async follow(onCrossed, signal) {
      try {
        await followDescriptor({ descriptor: followed, readiness: "input" }, onCrossed, signal);
      } finally {
        closeSync(followed);
      }
    },
  };
}
