# docker build -t infeed .                    trains on CPUs
# docker build -t infeed-cuda --target cuda . trains on GPUs as well
#
# `./dev image` runs the first stage's steps without Docker.
ARG SUITE=bookworm
ARG CUDA_IMAGE=nvidia/cuda:13.0.1-devel-ubuntu24.04
FROM ${CUDA_IMAGE} AS toolkit

FROM debian:${SUITE} AS cpu
WORKDIR /src
COPY . .
RUN ./dev setup --build
RUN ./dev build
ENV PATH=/src/build/release/bin:$PATH

FROM cpu AS cuda
COPY --from=toolkit /usr/local/cuda-13.0 /usr/local/cuda
ENV PATH=/src/build/cuda/bin:/usr/local/cuda/bin:$PATH
RUN ./dev build cuda

# What is built where no target is named.
FROM cpu
