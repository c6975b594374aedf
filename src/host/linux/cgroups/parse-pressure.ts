import type { CgroupPressure, Pressure, PressureShare } from "../../cgroups-port.ts";

/**
 * Parses `cpu.pressure` and its like. Undefined where there is no such file. A line that an older kernel lacks counts
 * as all 0.
 */
function parsePressure(text: string | undefined): Pressure | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  return { some: parseShare(text, "some"), full: parseShare(text, "full") };
}

/** Reads the three files, wherever they are. */
export function readPressure(read: (resource: "cpu" | "memory" | "io") => string | undefined): CgroupPressure {
  const cpu = parsePressure(read("cpu"));
  const memory = parsePressure(read("memory"));
  const io = parsePressure(read("io"));
  return { ...(cpu && { cpu }), ...(memory && { memory }), ...(io && { io }) };
}

function parseShare(text: string, kind: "some" | "full"): PressureShare {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${kind} `)) ?? "";
  const amountOf = (name: string) => Number(new RegExp(`\\b${name}=([\\d.]+)`).exec(line)?.[1] ?? 0);
  return {
    avg10: amountOf("avg10"),
    avg60: amountOf("avg60"),
    avg300: amountOf("avg300"),
    totalMicroseconds: amountOf("total"),
  };
}
