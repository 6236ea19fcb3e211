// make_module.cc - writes a module for torchscript.cc, as torch.jit.save() does in Python: a layer
// of 20 units on samples of 1x28x28 in 10 classes.  make_module FILE
#include <cstdlib>

#include <torch/script.h>

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    torch::jit::Module m("layers");
    at::manual_seed(1);
    m.register_parameter("first", at::randn({20, 784}) / 28.0, false);
    m.register_parameter("second", at::randn({10, 20}) / 4.5, false);
    m.define("def forward(self, x: Tensor) -> Tensor:\n"
             "    hidden = torch.relu(x.flatten(1) @ self.first.t())\n"
             "    return hidden @ self.second.t()\n");
    m.save(argv[1]);
    return EXIT_SUCCESS;
}
