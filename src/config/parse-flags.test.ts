import { describe, expect, it } from "vitest";
import { KUBELET_FLAGS } from "./flags.ts";
import { parseFlags } from "./parse-flags.ts";

function valuesOf(...argv: string[]): Record<string, unknown> {
  const parsed = parseFlags(argv);
  if (!parsed.ok) throw new Error(parsed.error);
  return Object.fromEntries(parsed.values);
}

describe("parseFlags reads a command line as pflag does", () => {
  it.each<[string[], Record<string, unknown>]>([
    [["--max-pods=5"], { "max-pods": 5 }],
    [["--max-pods", "5"], { "max-pods": 5 }],
    [["--max_pods=5"], { "max-pods": 5 }],
    [["--max-pods=0x10"], { "max-pods": 16 }],
    [["--max-pods=010"], { "max-pods": 8 }],
    [["--oom-score-adj", "-500"], { "oom-score-adj": -500 }],
    [["--fail-swap-on"], { "fail-swap-on": true }],
    [["--fail-swap-on=false"], { "fail-swap-on": false }],
    [["--fail-swap-on=F"], { "fail-swap-on": false }],
    [["-v=4"], { v: 4 }],
    [["-v", "4"], { v: 4 }],
    [["-v4"], { v: 4 }],
    [["--v=4"], { v: 4 }],
    [["-h"], { help: true }],
    [["-hv4"], { help: true, v: 4 }],
    [["--version"], { version: "true" }],
    [["--version=raw"], { version: "raw" }],
    [["--sync-frequency=1m30s"], { "sync-frequency": 90_000 }],
    [["--config="], { config: "" }],
    [["--config=a=b"], { config: "a=b" }],
    [
      ["--cluster-dns=1.1.1.1,2.2.2.2", "--cluster-dns", "3.3.3.3"],
      { "cluster-dns": ["1.1.1.1", "2.2.2.2", "3.3.3.3"] },
    ],
    [['--tls-cipher-suites="a,b",c'], { "tls-cipher-suites": ["a,b", "c"] }],
    [["--node-labels=a=1,b=2", "--node-labels=b=3"], { "node-labels": { a: "1", b: "3" } }],
    [
      ["--eviction-hard=memory.available<1Gi,nodefs.available<10%"],
      { "eviction-hard": { "memory.available": "1Gi", "nodefs.available": "10%" } },
    ],
    [["--feature-gates=A=true,B=0"], { "feature-gates": { A: true, B: false } }],
    [
      ["--manifest-url-header=A:x,B:y", "--manifest-url-header=B: z:1 "],
      { "manifest-url-header": { A: ["x"], B: ["y", "z:1"] } },
    ],
    [
      ["--vmodule=pleg=5,pod*=6"],
      {
        vmodule: [
          { filePattern: "pleg", verbosity: 5 },
          { filePattern: "pod*", verbosity: 6 },
        ],
      },
    ],
    [
      ["--register-with-taints=a=b:NoSchedule,c:NoExecute"],
      {
        "register-with-taints": [
          { key: "a", value: "b", effect: "NoSchedule", timeAdded: undefined },
          { key: "c", value: "", effect: "NoExecute", timeAdded: undefined },
        ],
      },
    ],
    [
      ["--reserved-memory=0:memory=1Gi", "--reserved-memory=1:memory=2Gi,hugepages-1M=1Gi"],
      {
        "reserved-memory": [
          { numaNode: 0, limits: { memory: "1Gi" } },
          { numaNode: 1, limits: { memory: "2Gi", "hugepages-1M": "1Gi" } },
        ],
      },
    ],
    [["--max-pods=5", "--max-pods=6"], { "max-pods": 6 }],
  ])("%j", (argv, expected) => expect(valuesOf(...argv)).toEqual(expected));

  it("keeps what is no flag, and reads flags after it", () => {
    expect(parseFlags(["a", "-v=1", "-", "--", "--max-pods", "b"])).toMatchObject({
      ok: true,
      rest: ["a", "-", "--max-pods", "b"],
    });
  });

  it.each([
    [["--bogus"], "unknown flag: --bogus"],
    [["--bogus=1"], "unknown flag: --bogus"],
    [["-x"], "unknown shorthand flag: 'x' in -x"],
    [["-hx"], "unknown shorthand flag: 'x' in -hx"],
    [["--max-pods"], "flag needs an argument: --max-pods"],
    [["-v"], "flag needs an argument: 'v' in -v"],
    [["--=x"], "bad flag syntax: --=x"],
    [["---v"], "bad flag syntax: ---v"],
    [["--max-pods=x"], 'invalid argument "x" for "--max-pods" flag: strconv.ParseInt: parsing "x": invalid syntax'],
    [
      ["--max-pods=2147483648"],
      'invalid argument "2147483648" for "--max-pods" flag: strconv.ParseInt: parsing "2147483648": value out of range',
    ],
    [["-v=x"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
    [["--v=-1"], 'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax'],
    [
      ["--fail-swap-on=maybe"],
      'invalid argument "maybe" for "--fail-swap-on" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [["--sync-frequency=1"], 'invalid argument "1" for "--sync-frequency" flag: time: invalid duration "1"'],
    [["--address=here"], 'invalid argument "here" for "--address" flag: "here" is not a valid IP address'],
    [["--node-labels=a"], 'invalid argument "a" for "--node-labels" flag: malformed pair, expect string=string'],
    [
      ["--eviction-hard=a=1"],
      'invalid argument "a=1" for "--eviction-hard" flag: malformed pair, expect string<string',
    ],
    [
      ["--manifest-url-header=a"],
      'invalid argument "a" for "--manifest-url-header" flag: malformed pair, expect string:string',
    ],
    [["--vmodule=a"], 'invalid argument "a" for "--vmodule" flag: "a" does not have the pattern=N format'],
    [
      ["--feature-gates=A=x"],
      'invalid argument "A=x" for "--feature-gates" flag: invalid value of A: x, err: strconv.ParseBool: parsing "x": invalid syntax',
    ],
    [
      ["--register-with-taints=a=b"],
      'invalid argument "a=b" for "--register-with-taints" flag: invalid taint spec: a=b, expect key=value:NoSchedule, PreferNoSchedule or NoExecute',
    ],
  ])("refuses %j", (argv, error) => expect(parseFlags(argv)).toEqual({ ok: false, error }));

  it("says once of each flag that it is deprecated, or has no effect", () => {
    const parsed = parseFlags([
      "--container-log-max-size=1Mi",
      "--container-log-max-size=2Mi",
      "--housekeeping-interval=1s",
      "--root-dir=/y",
    ]);
    expect(parsed.ok && parsed.notices).toEqual([
      "Flag --container-log-max-size has been deprecated, set containerLogMaxSize in the --config file instead",
      "Flag --housekeeping-interval is accepted but has no effect",
    ]);
  });

  it("does not say that what is switched off has no effect", () => {
    const parsed = parseFlags(["--fail-cgroupv1=false"]);
    expect(parsed.ok && parsed.notices).toEqual([]);
  });
});

describe("the table of flags", () => {
  it("has every name once, lower case, with help", () => {
    const names = KUBELET_FLAGS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(150);
    for (const { name, help } of KUBELET_FLAGS) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(help, name).not.toBe("");
    }
  });

  it("accepts each default that its help shows, as text of its own type", () => {
    for (const { name, type, initial } of KUBELET_FLAGS) {
      const shown = type.show(initial);
      if (shown === undefined || shown.startsWith("[")) continue;
      const text = shown.startsWith('"') ? shown.slice(1, -1) : shown;
      expect(type.parse(text, undefined), name).toEqual({ ok: true, value: initial });
    }
  });
});
