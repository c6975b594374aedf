/** A machine that packages are made for, in the words of Debian and of Node.js. */
export interface Target {
  readonly debian: "amd64" | "arm64";
  readonly node: "x64" | "arm64";
  /** The GNU tools' prefix of this machine. */
  readonly gnu: string;
}

export const TARGETS: readonly Target[] = [
  { debian: "amd64", node: "x64", gnu: "x86_64-linux-gnu" },
  { debian: "arm64", node: "arm64", gnu: "aarch64-linux-gnu" },
];
